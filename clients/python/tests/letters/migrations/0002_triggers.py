from django.db import migrations

from simdup.django import FlagTrigger, LogTrigger, RejectTrigger


class Migration(migrations.Migration):
    dependencies = [('letters', '0001_initial')]

    operations = [
        FlagTrigger('letter', 'flag', 'repeats', index='letter_near', max_distance=10, lock=True),
        LogTrigger('Letter', 'log "it"', log_model='letterlog', index='letter_near'),
        RejectTrigger('photo', 'no copies', max_distance=3),
    ]

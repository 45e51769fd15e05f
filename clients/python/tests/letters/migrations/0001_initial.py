import django.db.models.deletion
from django.db import migrations, models

import simdup.django


class Migration(migrations.Migration):
    initial = True

    operations = [
        simdup.django.SimdupExtension(),
        migrations.CreateModel(
            name='Letter',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False, auto_created=True, verbose_name='ID')),
                ('content', models.TextField()),
                ('title', models.CharField(max_length=100, default='')),
                ('district', models.IntegerField(default=0)),
                ('repeats', models.ForeignKey('letters.letter', django.db.models.deletion.SET_NULL, null=True, db_column='repeats id')),
            ],
        ),
        migrations.CreateModel(
            name='LetterLog',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False, auto_created=True, verbose_name='ID')),
                ('new_key', models.IntegerField()),
                ('old_key', models.IntegerField()),
                ('distance', models.IntegerField()),
                ('logged_at', models.DateTimeField()),
            ],
            options={'db_table': 'Letter Log'},
        ),
        migrations.CreateModel(
            name='Photo',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False, auto_created=True, verbose_name='ID')),
                ('name', models.TextField(default='')),
                ('fp', simdup.django.Simhash64Field(null=True)),
            ],
        ),
        migrations.AddIndex('letter', simdup.django.HammingIndex(fields=['content'], name='letter_near', fillfactor=70)),
        migrations.AddIndex('letter', simdup.django.HammingIndex(simdup.django.Minhash64('title', 2), name='letter_title')),
        migrations.AddIndex('photo', simdup.django.HammingIndex(fields=['fp'], name='photo_fp')),
    ]

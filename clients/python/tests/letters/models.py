from django.db import models

from simdup.django import FlagMixin, HammingIndex, Minhash64, Simhash64Field


class Letter(FlagMixin, models.Model):
    content = models.TextField()
    title = models.CharField(max_length=100, default='')
    district = models.IntegerField(default=0)
    repeats = models.ForeignKey('self', models.SET_NULL, null=True, db_column='repeats id')
    flag_fields = ['repeats']

    class Meta:
        indexes = [
            HammingIndex(fields=['content'], name='letter_near', fillfactor=70),
            HammingIndex(Minhash64('title', 2), name='letter_title'),
        ]


class LetterLog(models.Model):
    new_key = models.IntegerField()
    old_key = models.IntegerField()
    distance = models.IntegerField()
    logged_at = models.DateTimeField()

    class Meta:
        db_table = 'Letter Log'


class Photo(models.Model):
    name = models.TextField(default='')
    fp = Simhash64Field(null=True)

    class Meta:
        indexes = [HammingIndex(fields=['fp'], name='photo_fp')]

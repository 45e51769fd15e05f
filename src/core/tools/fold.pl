#!/usr/bin/perl
#
# fold.pl: make foldtables.c out of the files of Debian's unicode-data.
#
#   perl src/core/tools/fold.pl /usr/share/unicode > src/core/unicode/foldtables.c
#
# The tables belong to fingerprint profile 2 and are frozen with it. The file in
# the tree was made from Unicode 15.0 (Debian's unicode-data 15.0.0) and is
# never made again from a later one. A later Unicode is a later profile.

use strict;
use warnings;
use utf8;
use Encode;

my $SEPARATOR = 0;
my $SEGMENTED = 1;
my $UNSEGMENTED = 2;
my $LISTED = 3;
my $SECOND = 4;
my $HANGUL = 1;
my $EXCHANGE = 'SIMDUP_FOLD_EXCHANGE';

# Scripts written without spaces between words, as in profile 1.
my @unsegmented = (
	[ 0x0E00, 0x0EFF ], [ 0x1000, 0x109F ], [ 0x1780, 0x17FF ],
	[ 0x3005, 0x3007 ], [ 0x3021, 0x3029 ], [ 0x3031, 0x3035 ],
	[ 0x3038, 0x303B ], [ 0x3040, 0x30FF ], [ 0x31F0, 0x31FF ],
	[ 0x3400, 0x4DBF ], [ 0x4E00, 0x9FFF ], [ 0xF900, 0xFAFF ],
	[ 0xFF66, 0xFF9F ], [ 0x1AFF0, 0x1B16F ], [ 0x20000, 0x323AF ]);

# What folds against the properties: letters that people type for one another, and
# spellings of one letter. Code points, and behind the colon what each becomes.
my %listed;
for (
	'131:69', 'E6:61 65', '153:6F 65', 'FE:74 68', 'F0:64', '14B:6E', '1DD 259 25B:65', '254:6F',
	'251:61', '261:67', '2B9 2BA 2BB 2BC 2BD 2BE 2BF A78C:27', '5F0:5D5 5D5', '5F1:5D5 5D9', '5F2:5D9 5D9',
	'671:627', '629 6C1 6C3 6D5:647', '649 6CC:64A', '6A9:643', '901:902', '9CE:9A4 9CD',
	'D7A:D23 D4D', 'D7B:D28 D4D', 'D7C:D30 D4D', 'D7D:D32 D4D', 'D7E:D33 D4D', 'D7F:D15 D4D',
	'E41:E40 E40', 'EC1:EC0 EC0')
{
	my ($from, $to) = split /:/;
	$listed{$_} = [ map { hex } split / /, $to ] for map { hex } split / /, $from;
}

# Chinese: a character, and the simpler one that it leads to. Unihan's links are read
# from its file. These are its gaps, found by a comparison with OpenCC 1.1.6
# (Apache-2.0) and CC-CEDICT.
my %simpler = map { ord } map { split // } qw(
	㑺俊 㓰划 㳽弥 䌽彩 䍦䍠 䙓摆 䜩宴 䦆镢 䩄腼 亙亘 伕夫 佈布 佔占 侷局 俬私 倖幸 傚效 僱雇 儎傤 兇凶 冑胄 剷铲 劄札 勦剿
	勳勋 卹恤 卽即 厠厕 厤历 唸念 啓启 喫吃 嚥咽 嚮向 囌苏 囓啮 坵丘 垻坝 塚冢 墰坛 墻墙 壎埙 壜坛 奨奖 姪侄 嫋袅 嫺娴 嬀妫
	孃娘 寀采 寳宝 峯峰 崑昆 嵗岁 巹卺 弔吊 彆别 彔录 彫雕 彷仿 彿佛 悽凄 慤悫 慼戚 慾欲 挱挲 捱挨 揯搄 揹背 擡抬 敍叙 敎教
	敓敚 旂旗 旣既 昇升 暱昵 朮术 枱台 枴拐 柺拐 査查 棊棋 榘矩 榦干 槓杠 樑梁 櫺棂 欅榉 歎叹 殭僵 殻壳 殽肴 氾泛 汎泛 汙污
	泝溯 洩泄 涗涚 淒凄 淨净 淩凌 渖沈 湧涌 湼涅 溼湿 滙汇 潀潨 潙沩 灩滟 燉炖 燬毁 燻熏 爲为 牀床 牴抵 犛牦 獃呆 珮佩 琱雕
	瑯琅 璿璇 甕瓮 産产 甦苏 甯宁 畵画 疎疏 痠酸 痺痹 瘻瘘 癒愈 癡痴 皁皂 盃杯 眞真 瞇眯 砲炮 硷碱 碕埼 祕秘 稜棱 窰窑 竪竖
	箇个 篠筿 簑蓑 簷檐 籤签 糉粽 紮扎 絶绝 綉绣 綑捆 綫线 綳绷 緑绿 緼缊 缐线 罎坛 羣群 羨羡 羶膻 翫玩 肈肇 脣唇 脩修 腭颚
	臥卧 舖铺 舘馆 菴庵 菸烟 葯药 蒐搜 蒓莼 蒕蒀 蓆席 蔘参 蔿𫇭 薰熏 薹苔 藴蕴 蝨虱 蠍蝎 蠔蚝 衆众 衞卫 袴裤 裏里 襉裥 覈核
	証证 説说 諡谥 謡谣 譁哗 譭毁 讬托 谘咨 谿溪 豔艳 賫赍 贜赃 跼局 踰逾 蹟迹 蹠跖 輼辒 週周 遊游 遡溯 醃腌 醖酝 醟蒏 醣糖
	鈅钥 鈡钟 鉆钻 鉢钵 鉳锫 鋭锐 録录 錼镎 鍅钫 鎭镇 鎸镌 钂镋 钜巨 锺钟 镟旋 閲阅 陞升 隄堤 霑沾 靝靔 頽颓 顔颜 飱飧 餈糍
	饑饥 馀余 駡骂 鬨哄 鬭斗 鮝鲞 鳬凫 鶿鹚 鷄鸡 鷴鹇 麪面 麫面 鼂鼌 𠬤睾 𢪓举 𢭏捣 𪨧仑 𫔀炼 𫖕鞲 𫗫糊 𫗭喂 𫛲雕 𫜩啮 𫫇恶
	𫷮荫 𬤎喧 𬤨噪 𬤮赞 𬬪扣 𬭨锤 𬮴暗 𰈇尝 𰎠岩 𰎫岳 𰛮卤 𰪶团 𰬈弦 𰬮纤 𰾗针 𰾫鉴 𰾮镰 𱅐驳);

# The voiced marks of kana join what stands before them, alone and as signs.
my %voiced = (0x309B => 0x3099, 0x309C => 0x309A);
my %marks_that_stay = map { $_ => 1 } values %voiced;
my %other_marks = (0x0640 => 1, 0x093C => 1);    # tatweel, nukta
my $scripts_of_marks = qr/^(?:Inherited|Cyrillic|Hebrew|Arabic|Syriac)$/;

# Behind the tones of Thai and Lao, as in what sara am becomes: combining classes.
my %behind_tones = (0x0E4D => 108, 0x0ECD => 123);

my $MAX = 0x110000;
my (@category, @script, @name, %cp_named, %digit, %combining);
my (%decomposition, %excluded, %casefold, %radical, %composed);

# A file of the folder, packed or not.
sub unicode_file
{
	my ($name) = @_;
	my $path = "$ARGV[0]/$name";
	my $file;

	if (-e $path)
	{
		open $file, '<', $path or die "$path: $!";
	}
	else
	{
		open $file, '-|', 'bzcat', "$path.bz2" or die "$path.bz2: $!";
	}
	return $file;
}

sub read_unicode_data
{
	my $file = unicode_file('UnicodeData.txt');
	my $first;

	while (<$file>)
	{
		my @field = split /;/, $_, -1;
		my $cp = hex $field[0];

		$name[$cp] = $field[1];
		$cp_named{ $field[1] } = $cp;
		$combining{$cp} = $field[3] if $field[3] > 0;
		$digit{$cp} = ord $field[6] if $field[2] eq 'Nd';
		$decomposition{$cp} = [ map { hex } split / /, $field[5] ]
		  if $field[5] ne '' && $field[5] !~ /^</;
		if ($field[1] =~ /, First>$/)
		{
			$first = $cp;
			next;
		}
		$first = $cp if $field[1] !~ /, Last>$/;
		$category[$_] = $field[2] for $first .. $cp;
	}
}

# Each code point of a file of ranges that match, with the captures of the match.
sub each_match
{
	my ($name, $pattern, $take) = @_;
	my $file = unicode_file($name);

	while (<$file>)
	{
		my ($from, $to, @values) = /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; $pattern/ or next;
		$take->($_, @values) for hex $from .. hex($to // $from);
	}
}

sub read_properties
{
	each_match('Scripts.txt', qr/(\w+)/, sub { $script[ $_[0] ] = $_[1] });
	each_match('EquivalentUnifiedIdeograph.txt', qr/([0-9A-F]+)/, sub { $radical{ $_[0] } = hex $_[1] });
	each_match('DerivedNormalizationProps.txt', qr/Full_Composition_Exclusion/, sub { $excluded{ $_[0] } = 1 });
	each_match('DerivedNormalizationProps.txt', qr/NFKC_CF;\s*([0-9A-F ]*)/,
		sub { $casefold{ $_[0] } = [ map { hex } split ' ', $_[1] ] });
}

sub read_simpler
{
	my $file = unicode_file('Unihan_Variants.txt');

	while (<$file>)
	{
		next unless /^U\+([0-9A-F]+)\tkSimplifiedVariant\t(.*)$/;
		my $cp = hex $1;
		my @variants = sort { $a <=> $b } grep { $_ != $cp } map { hex substr $_, 2 } split ' ', $2;
		next unless @variants;
		die "two links of $1" if $simpler{$cp};
		$simpler{$cp} = $variants[0];
	}
}

sub in_ranges
{
	my ($cp, @ranges) = @_;

	return scalar grep { $cp >= $_->[0] && $cp <= $_->[1] } @ranges;
}

sub is_removed
{
	my ($cp) = @_;

	return 0 if $marks_that_stay{$cp};
	return $other_marks{$cp}
	  || (($category[$cp] // 'Cn') =~ /^M[ne]$/ && ($script[$cp] // '') =~ $scripts_of_marks);
}

# Hangul syllables decompose by arithmetic, and joining would undo it.
sub decomposed
{
	my ($cp) = @_;

	return $cp unless $decomposition{$cp};
	return map { decomposed($_) } @{ $decomposition{$cp} };
}

# The letter that a Latin or Cyrillic one has a stroke, hook or tail more than.
sub plain_letter
{
	my ($cp) = @_;

	return if ($category[$cp] // 'Cn') !~ /^L/ || ($name[$cp] // '') !~ /^(?:LATIN|CYRILLIC) /;
	my $plain = $name[$cp] =~ s/ WITH .*//r;
	$plain =~ s/^LATIN (?:LETTER SMALL CAPITAL|SMALL CAPITAL LETTER) /LATIN SMALL LETTER /;
	return if $plain eq $name[$cp];
	return $cp_named{$plain};
}

sub letter
{
	my ($cp) = @_;

	return @{ $listed{$cp} } if $listed{$cp};
	return $digit{$cp} if defined $digit{$cp};
	if (defined $simpler{$cp})
	{
		$cp = $simpler{$cp} while defined $simpler{$cp};
		return $cp;
	}
	my $plain = plain_letter($cp);
	return defined $plain ? unjoined($plain) : $cp;
}

sub unjoined
{
	my ($cp) = @_;

	return $voiced{$cp} if $voiced{$cp};
	return map { letter($_) } grep { !is_removed($_) }
	  map { decomposed($_) } $radical{$cp} // @{ $casefold{$cp} // [$cp] };
}

sub fold
{
	my ($cp) = @_;
	my @folded;

	for my $next (unjoined($cp))
	{
		my $joined = @folded ? $composed{"$folded[-1] $next"} : undef;

		if (defined $joined) { $folded[-1] = $joined }
		else                 { push @folded, $next }
	}
	return @folded;
}

# The pairs of folded code points that are joined to one: second, first, joined. Hangul
# is arithmetic.
sub joined_pairs
{
	for my $cp (sort { $a <=> $b } keys %decomposition)
	{
		my @pair = @{ $decomposition{$cp} };

		next if @pair != 2 || $excluded{$cp};
		$composed{"@pair"} = $cp;
	}
	$composed{ join ' ', 0x0D46, 0x0D57 } = 0x0D57;    # Malayalam au, as it is written now
	# both must be in folded texts
	return map { [ (split / /)[ 1, 0 ], $composed{$_} ] }
	  grep { join(' ', map { fold($_) } split / /) eq $_ } keys %composed;
}

# The pairs of marks that change places: second, first. Both are of one script, and the
# second is none of the marks that join.
sub exchanged_pairs
{
	my (%joins) = @_;
	my %order = (%combining, %behind_tones);
	my @pairs;

	my @marks = grep { join(' ', fold($_)) eq $_ } keys %order;
	for my $second (grep { !$joins{$_} } @marks)
	{
		push @pairs, map { [ $second, $_, $EXCHANGE ] }
		  grep { $order{$_} > $order{$second} && $script[$_] eq $script[$second] } @marks;
	}
	return @pairs;
}

sub class
{
	my ($cp) = @_;

	return $SEPARATOR if ($category[$cp] // 'Cn') !~ /^[LMN]/;
	return in_ranges($cp, @unsegmented) ? $UNSEGMENTED : $SEGMENTED;
}

sub lines
{
	my @values = @_;
	my $n = $values[0] =~ /{/ ? 4 : 16;
	my $out = '';

	while (my @line = splice @values, 0, $n)
	{
		$out .= "\t" . join(', ', @line) . ",\n";
	}
	return $out;
}

die "usage: fold.pl FOLDER\n" unless @ARGV == 1;
read_unicode_data();
read_properties();
read_simpler();

my @pairs = joined_pairs();
push @pairs, exchanged_pairs(map { $_->[0] => 1 } @pairs);
for (@pairs)
{
	my ($second, $first, $joined) = @$_;
	my $pair = sprintf '%X %X', $first, $second;

	die "classes of $pair" if class($first) != class($second) || ($joined ne $EXCHANGE && class($first) != class($joined));
	die "$pair is common" if $first < 0x80 || ($first >= 0x4E00 && $first <= 0x9FFF);
}

# The pairs of one second have a number. Number 0 is for what joins nothing. Beside it,
# bits of the firsts rule out most others.
@pairs = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @pairs;
my %joins = map { $_ => $HANGUL } 0x1161 .. 0x1175, 0x11A8 .. 0x11C2;
my %bits_of_firsts = map { $_ => 0xFFFFFFFF } keys %joins;
my @starts = (0) x ($HANGUL + 1);
for my $i (0 .. $#pairs)
{
	my ($second, $first) = @{ $pairs[$i] };

	$bits_of_firsts{$second} |= 1 << $first / 8 % 32;
	next if $joins{$second};
	$joins{$second} = @starts;
	push @starts, $i;
}
push @starts, scalar @pairs;

# Each code point has a property: value, class, number of folded characters. The
# first three are those of code points that fold to themselves.
my @properties = ("0, $SEPARATOR, 1", "0, $SEGMENTED, 1", "0, $UNSEGMENTED, 1");
my %property_index = map { $properties[$_] => $_ } 0 .. $#properties;
my (@property_of, @expansions, %expansion_at);
for my $cp (0 .. $MAX - 1)
{
	my @folded = fold($cp);
	my $key;

	if (@folded == 1 && !$joins{ $folded[0] })
	{
		$key = join ', ', $folded[0] - $cp, class($folded[0]), 1;
	}
	elsif (@folded == 1 && $folded[0] == $cp)
	{
		$key = join ', ', unpack('l', pack 'L', $bits_of_firsts{$cp}), $SECOND + class($cp), $joins{$cp};
	}
	else
	{
		my $text = join ',',
		  map { sprintf '0x%X', $_ | class($_) << 21 | ($joins{$_} // 0) << 23 } @folded;

		if (@folded && !defined $expansion_at{$text})
		{
			$expansion_at{$text} = @expansions;
			push @expansions, split /,/, $text;
		}
		$key = join ', ', $expansion_at{$text} // 0, $LISTED, scalar @folded;
	}
	if (!exists $property_index{$key})
	{
		$property_index{$key} = @properties;
		push @properties, $key;
	}
	$property_of[$cp] = $property_index{$key};
}
die 'too many properties for 16 bits' if @properties > 65536;

# Two stages of 128 code points a block; equal blocks are stored once.
my (%block_index, @blocks, @stage1);
for (my $cp = 0; $cp < $MAX; $cp += 128)
{
	my $block = join ',', @property_of[ $cp .. $cp + 127 ];

	if (!exists $block_index{$block})
	{
		$block_index{$block} = @blocks;
		push @blocks, $block;
	}
	push @stage1, $block_index{$block};
}
die 'too many blocks for 16 bits' if @blocks > 65536;

# The same for a text that becomes characters without classes: the UTF-8 that a code
# point below U+10000 folds to, its first byte lowest. It is 0 unless that is no
# character, or one that joins nothing.
my @units;
for my $cp (0 .. 0xFFFF)
{
	my ($value, $class, $n) = split /, /, $properties[ $property_of[$cp] ];

	push @units,
	    $cp >= 0xD800 && $cp <= 0xDFFF ? 0
	  : $class == $SEPARATOR ? 1
	  : $class >= $LISTED ? ($class == $LISTED && $n == 0 ? 2 : 0)
	  :                     unpack 'V', pack 'a4', encode('UTF-8', chr $cp + $value);
}

print <<'END';
/*
 * foldtables.c
 *	  The Unicode tables of profile 2. Frozen.
 *
 * Made by tools/fold.pl from UnicodeData.txt, DerivedNormalizationProps.txt,
 * EquivalentUnifiedIdeograph.txt, Scripts.txt and Unihan_Variants.txt of Unicode
 * 15.0.
 */
#include "core/unicode/foldtables.h"

END
printf "const SimdupFoldProperty simdup_fold_properties[%d] = {\n",
  scalar @properties;
print lines(map { "{$_}" } @properties);
print "};\n\n";
printf "const uint32_t simdup_fold_expansions[%d] = {\n%s};\n\n",
  scalar @expansions, lines(@expansions);
printf "const uint16_t simdup_fold_starts[%d] = {\n%s};\n\n",
  scalar @starts, lines(@starts);
printf "const uint32_t simdup_fold_firsts[%d] = {\n%s};\n\n",
  scalar @pairs, lines(map { sprintf '0x%X', $_->[1] } @pairs);
printf "const uint32_t simdup_fold_joined[%d] = {\n%s};\n\n",
  scalar @pairs, lines(map { $_->[2] eq $EXCHANGE ? $EXCHANGE : sprintf '0x%X', $_->[2] } @pairs);
printf "const uint32_t simdup_fold_units[%d] = {\n%s};\n\n",
  scalar @units, lines(map { sprintf '0x%x', $_ } @units);
printf "const uint16_t simdup_fold_stage1[%d] = {\n%s};\n\n",
  scalar @stage1, lines(@stage1);
printf "const uint16_t simdup_fold_stage2[%d] = {\n%s};\n",
  128 * @blocks, lines(map { split /,/ } @blocks);

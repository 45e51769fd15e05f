# Folding.pm: what profile 2 folds a text to, by its rule and Unicode's files, step by
# step over whole strings. It shares nothing with the tables of core/ or their maker.

package Folding;

use strict;
use warnings;
use utf8;

use IO::File;
use IO::Uncompress::Bunzip2;

our $FOLDER = '/usr/share/unicode';

# What people type for one another, as the rule lists it: a character, and what
# each of those before it becomes.
my @typed = (
	[ 'i', 'ı' ], [ 'ae', 'æ' ], [ 'oe', 'œ' ], [ 'th', 'þ' ], [ 'd', 'ð' ], [ 'n', 'ŋ' ],
	[ 'e', 'əǝɛ' ], [ 'o', 'ɔ' ], [ 'a', 'ɑ' ], [ 'g', 'ɡ' ],
	[ q('), "\x{A78C}\x{2B9}\x{2BA}\x{2BB}\x{2BC}\x{2BD}\x{2BE}\x{2BF}" ],
	[ "\x{5D5}\x{5D5}", "\x{5F0}" ], [ "\x{5D5}\x{5D9}", "\x{5F1}" ], [ "\x{5D9}\x{5D9}", "\x{5F2}" ],
	[ "\x{627}", "\x{671}" ], [ "\x{647}", "\x{629}\x{6C1}\x{6C3}\x{6D5}" ],
	[ "\x{64A}", "\x{649}\x{6CC}" ], [ "\x{643}", "\x{6A9}" ], [ "\x{902}", "\x{901}" ],
	[ "\x{9A4}\x{9CD}", "\x{9CE}" ], [ "\x{D23}\x{D4D}", "\x{D7A}" ], [ "\x{D28}\x{D4D}", "\x{D7B}" ],
	[ "\x{D30}\x{D4D}", "\x{D7C}" ], [ "\x{D32}\x{D4D}", "\x{D7D}" ], [ "\x{D33}\x{D4D}", "\x{D7E}" ],
	[ "\x{D15}\x{D4D}", "\x{D7F}" ], [ "\x{E40}\x{E40}", "\x{E41}" ], [ "\x{EC0}\x{EC0}", "\x{EC1}" ],);
my %list;
for my $pair (@typed)
{
	$list{$_} = $pair->[0] for split //, $pair->[1];
}

# The second list: Chinese, from and to.
my %simple = map { split // } qw(
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

my (%name, %named, %general, %digit, %canonical, %lower, %upper, %script, %nfkc_cf, %excluded, %unified);
my (%combining, %pair_of, %is_second, %fold_of);

# The lines of a file of the folder, packed or not.
sub lines_of
{
	my ($name) = @_;
	my $path = "$FOLDER/$name";
	my $file = -e $path ? IO::File->new($path, 'r') : IO::Uncompress::Bunzip2->new("$path.bz2");

	die "no $name in $FOLDER\n" unless $file;
	my @lines = $file->getlines;
	return @lines;
}

# Check whether the files are there, of the version that the rule is written for.
sub is_there
{
	my $version = eval { (lines_of('DerivedNormalizationProps.txt'))[0] };

	return ($version // '') =~ /-15\.0\.0\.txt/;
}

# Files with a range, a property, and perhaps a value.
sub each_property
{
	my ($file, $take) = @_;

	for (lines_of($file))
	{
		s/\s*#.*//s;
		next unless /\S/;
		my ($range, @values) = split /\s*;\s*/, $_, -1;
		my ($from, $to) = split /\.\./, $range;
		$take->(chr, @values) for hex $from .. hex($to // $from);
	}
	return;
}

sub text_of { return join '', map { chr hex } split ' ', shift }

sub load
{
	my $begin;

	for (lines_of('UnicodeData.txt'))
	{
		my ($cp, $name, $general, $order, undef, $map, undef, $digit, undef, undef, undef, undef, $upper, $lower) = split /;/;
		my $c = chr hex $cp;

		$begin = hex $cp if $name =~ /First>/;
		$general{ chr $_ } = $general for $name =~ /Last>/ ? $begin .. hex $cp : hex $cp;
		next if $name =~ /^</;
		$name{$c} = $name;
		$named{$name} = $c;
		$combining{$c} = $order if $order > 0;
		$digit{$c} = $digit if $general eq 'Nd';
		$canonical{$c} = text_of($map) if $map ne '' && $map !~ /</;
		$upper{$c} = text_of($upper) if $upper ne '';
		$lower{$c} = text_of($lower) if $lower =~ /\S/;
	}
	each_property('Scripts.txt', sub { $script{ $_[0] } = $_[1] });
	each_property('EquivalentUnifiedIdeograph.txt', sub { $unified{ $_[0] } = text_of($_[1]) });
	each_property('DerivedNormalizationProps.txt', sub {
		my ($c, $property, $value) = @_;
		$nfkc_cf{$c} = text_of($value) if $property eq 'NFKC_CF';
		$excluded{$c} = 1 if $property eq 'Full_Composition_Exclusion';
	});
	for (lines_of('SpecialCasing.txt'))
	{
		next unless /^([0-9A-F]+); ([0-9A-F ]*); [0-9A-F ]*; ([0-9A-F ]*); #/;
		$lower{ chr hex $1 } = text_of($2);
		$upper{ chr hex $1 } = text_of($3);
	}
	for (lines_of('Unihan_Variants.txt'))
	{
		next unless /^U\+(\S+)\tkSimplifiedVariant\t(.*)/;
		my $c = chr hex $1;
		my @others = sort grep { $_ ne $c } map { chr hex } $2 =~ /U\+([0-9A-F]+)/g;
		$simple{$c} = $others[0] if @others;
	}
	for my $c (keys %canonical)
	{
		$pair_of{ $canonical{$c} } = $c if length $canonical{$c} == 2 && !$excluded{$c};
	}
	$pair_of{"\x{D46}\x{D57}"} = "\x{D57}";
	# Hangul: all syllables, by their letters
	for my $s (0 .. 11171)
	{
		my ($l, $v, $t) = (int($s / 588), int($s % 588 / 28), $s % 28);
		my $lv = chr(0xAC00 + $s - $t);
		my $made_of = $t == 0 ? chr(0x1100 + $l) . chr(0x1161 + $v) : $lv . chr(0x11A7 + $t);

		$pair_of{$made_of} = chr(0xAC00 + $s);
	}
	$is_second{ substr $_, 1 } = 1 for keys %pair_of;
	return;
}

sub decomposed
{
	my ($text) = @_;

	return join '', map { exists $canonical{$_} ? decomposed($canonical{$_}) : $_ } split //, $text;
}

sub forms
{
	my ($c) = @_;

	return "\x{3099}" if $c eq "\x{309B}";
	return "\x{309A}" if $c eq "\x{309C}";
	return decomposed($unified{$c} // $nfkc_cf{$c} // $c);
}

sub is_mark
{
	my ($c) = @_;

	return 0 if $c =~ /[\x{3099}\x{309A}]/;
	return 1 if $c =~ /[\x{640}\x{93C}]/;
	return ($general{$c} // '') =~ /^M[ne]$/
	  && $script{$c} =~ /^(?:Inherited|Cyrillic|Hebrew|Arabic|Syriac)$/;
}

sub letter
{
	my ($c) = @_;

	return $list{$c} if exists $list{$c};
	return $digit{$c} if exists $digit{$c};
	if (exists $simple{$c})
	{
		$c = $simple{$c} while exists $simple{$c};
		return $c;
	}
	if (($general{$c} // '') =~ /^L/ && ($name{$c} // '') =~ /^(?:LATIN|CYRILLIC) /)
	{
		my $base = $name{$c} =~ s/ WITH .*//r;

		$base =~ s/^LATIN LETTER SMALL CAPITAL |^LATIN SMALL CAPITAL LETTER /LATIN SMALL LETTER /;
		return a_to_c($named{$base}) if exists $named{$base} && $named{$base} ne $c;
	}
	return $c;
}

sub a_to_c
{
	my ($c) = @_;

	$fold_of{$c} //= join '', map { letter($_) } grep { !is_mark($_) } split //, forms($c);
	return $fold_of{$c};
}

# Check whether n goes before p.
sub is_before
{
	my ($n, $p) = @_;

	# behind the tones of Thai and of Lao
	my %order = (%combining{ $n, $p }, "\x{E4D}" => 108, "\x{ECD}" => 123);

	return $order{$n} && $order{$p} && $order{$p} > $order{$n} && $script{$p} eq $script{$n} && !$is_second{$n};
}

# Step e, over a whole text.
sub joined
{
	my ($text) = @_;
	my @out;

	for my $n (split //, $text)
	{
		my $pair = @out ? $pair_of{ $out[-1] . $n } : undef;

		if    (defined $pair)                      { $out[-1] = $pair }
		elsif (@out && is_before($n, $out[-1]))    { splice @out, -1, 0, $n }
		else                                       { push @out, $n }
	}
	return join '', @out;
}

# The text is characters of Unicode.
sub folded
{
	my ($text) = @_;

	return joined(join '', map { a_to_c($_) } split //, $text);
}

# Pairs of marks that stay, of one script, and whose canonical order is the other one.
sub falling_pairs
{
	my @marks = grep { a_to_c($_) eq $_ } keys %combining;
	my @pairs;

	for my $p (@marks)
	{
		push @pairs, map { [ $p, $_ ] } grep { $combining{$p} > $combining{$_} && $script{$p} eq $script{$_} } @marks;
	}
	return @pairs;
}

# Radicals and strokes, and the ideograph of each.
sub radicals { return map { [ $_, $unified{$_} ] } sort keys %unified }

sub upper { return $upper{ $_[0] } // $_[0] }
sub lower { return $lower{ $_[0] } // $_[0] }

# Characters of words: letters, marks and numbers.
sub is_of_words { return ($general{ $_[0] } // '') =~ /^[LMN]/ }

1;

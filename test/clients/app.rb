# ActiveRecord: what doc/simdup-applications.md shows. Prints TAP.
require 'active_record'
require 'stringio'

def check(got, expected, name)
  $n = $n.to_i + 1
  puts "#{got == expected ? 'ok' : 'not ok'} #{$n} - #{name}"
  puts "# got #{got.inspect}" if got != expected
end

$VERBOSE = nil
ActiveRecord::Base.establish_connection(adapter: 'postgresql')
words = 'The lamp at the corner of Fish Street has been dark since May, sir.'
# ruby
class Letter < ActiveRecord::Base
  self.table_name = 'letter'
  attr_readonly :repeats
end

letter = Letter.create!(content: words).reload
found = Letter.where('content <~@ simhash_ball(minhash64(?), ?)', words, 8).order(:id).ids
begin
  Letter.create!(content: words.upcase)
rescue ActiveRecord::StatementInvalid => e
  raise unless e.cause.is_a?(PG::ExclusionViolation)
  refused = true
end
# ruby: end
check([letter.id, letter.repeats], [2, 1], 'the flag after reload')
check(found, [1, 2], 'search with a bound text and an integer')
check(refused, true, '23P01 is caught')
Letter.update_all('repeats = 1')
old = Letter.find(2)
Letter.connection.execute('UPDATE letter SET repeats = NULL WHERE id = 2')
old.update!(repeats: 1)
check(Letter.find(2).repeats, nil, 'attr_readonly keeps the flag from writes')

ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, out = StringIO.new)
check(out.string[/Could not dump table "letter"/].nil?, false, 'schema.rb lacks the table')
puts "1..#{$n}"

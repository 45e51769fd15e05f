#!/bin/bash
# email-reply-parser 2.3.9 (npm) takes a person's own words out of a mail, without quotes and signature.
# Guess: a mail without either comes back whole. Seen: the last sentence is gone, as it begins with "Sent from".
. "$(dirname "$0")/private_folder"
packages email-reply-parser@2.3.9
cat >t.mjs <<'J'
import EmailReplyParser from 'email-reply-parser';
const mail = 'The lamps in Mill Lane are dark.\n\nHere is the list.\nSent from the school, it names numbers 3 and 14.\n';
console.log(JSON.stringify(new EmailReplyParser().parseReply(mail)));
J
node t.mjs >out
seen 'Here is the list."' out

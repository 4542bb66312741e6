/** What a code means, and what to do: `docs/errors.md` has the same texts, with links. */
export type ExplainedCode = readonly [cause: string, action: string]

export const runErrors = {
  http_status: ['the target answered with a status that is not 2xx', 'read the response in the run'],
  timeout: [
    "the response's headers did not arrive within `timeout_ms`",
    'answer earlier and do the work later, or raise `timeout_ms`',
  ],
  connection_refused: [
    'nothing listens at this address and port',
    'start the receiver; check the port; in a container, `localhost` is the container',
  ],
  connection_reset: [
    'the target closed the connection before its response',
    'look for a crash or a limit in the log of the target or its proxy',
  ],
  dns: ['the name does not exist, or the name server did not answer', "check the name from the dispatcher's machine"],
  tls: [
    'the certificate is expired, self-signed, incomplete, or for another name',
    '`message` names the fault; send the whole chain of certificates',
  ],
  invalid_response: [
    'the answer is not valid HTTP',
    'check that the port speaks HTTP, and https where the URL says so',
  ],
  blocked_address: [
    'the name resolves to an address that Belfry may not call',
    'use a public address, or let the operator open the range',
  ],
  secret_missing: ['a secret of the request does not exist', 'store the secret, and replay the task'],
  secret_invalid: [
    'a secret of the request makes its URL or a header invalid, or the request too large',
    'store another value, or refer to it elsewhere, and replay the task',
  ],
  secret_not_allowed: ["the host is not one of the secret's `allowed_hosts`", 'correct the URL, or allow the host'],
  secret_unreadable: ['this installation cannot decrypt a secret', 'store it again, or restore the master key'],
  connection_missing: ['the workspace has no connection of this name', 'create it, then replay the task'],
  connection_not_allowed: [
    "the host is not one of the connection's `hosts`, or the URL is not `https`",
    'correct the URL, or add the host',
  ],
  connection_failed: [
    'the connection has no token, or a certificate that cannot be used',
    'the message has the answer of the token endpoint; test the connection after a change',
  ],
  stale_connection: [
    'the target closed a kept connection while the request was sent',
    'nothing: the next attempt follows at once',
  ],
  worker_lost: [
    'the dispatcher died before it recorded the outcome; the target may have been called',
    'nothing: the next attempt follows',
  ],
  internal_error: ['Belfry failed within this attempt', "report it with the run's id"],
} satisfies Record<string, ExplainedCode>

export const fieldErrors: Readonly<Record<string, ExplainedCode>> = {
  required: ['the field is missing', 'add it'],
  unknown_field: ['there is no such field', '`message` suggests a similar one; otherwise remove it'],
  invalid_type: ['the value has another type, such as a number instead of text', '`message` names the type'],
  invalid_value: [
    'the value is not one of the possible ones, or breaks a rule',
    '`message` has the values or the rule',
  ],
  out_of_range: ['the number or the time is too small or too large', '`message` has the limit'],
  too_short: ['the text has too few characters', '`message` has the limit'],
  too_long: ['the text has too many characters', '`message` has the limit'],
  too_many: ['the list has too many items, or a filter is repeated too often', 'send several requests'],
  blank: ['the text has no visible character', 'write a text, or leave the field out'],
  invalid_characters: ['the text contains control characters or others that are not allowed', 'remove them'],
  invalid_timestamp: ['the time is not ISO 8601 with `Z` or an offset', 'write it like `2027-01-01T09:00:00Z`'],
  expires_at_not_after_execute_at: ['the deadline is not later than the time', 'choose a later deadline'],
  execute_at_not_future: ['the time is in the past', 'choose a later one; to call at once, publish an event'],
  not_future: ['the time is in the past', 'choose a later one'],
  invalid_url: [
    'the URL is not an absolute http(s) URL, or contains something that is not allowed',
    '`message` names the part; credentials belong into a header',
  ],
  blocked_address: [
    'the URL names an address that Belfry may not call',
    'use a public address, or let the operator open the range',
  ],
  invalid_header: ['the name or value of a header is not allowed', '`message` says which, and why'],
  invalid_connection_name: [
    'the name of the connection has other characters than letters, digits and `. _ -`, or more than 64',
    '`message` has the rule',
  ],
  invalid_pem: [
    'the text is not a certificate or a key in PEM, or the key belongs to another certificate',
    'copy the whole file, with its first and last line',
  ],
  invalid_queue_name: [
    'the name of the queue has other characters than letters, digits and `. _ : / -`, or more than 128',
    '`message` has the rule',
  ],
  invalid_path: ['the path of a condition has an empty part', 'join the names of members with single dots'],
  invalid_base64: ['not base64 with padding', 'encode the bytes again'],
  conflicting_fields: ['the field cannot be combined with another one, or needs another one', '`message` names both'],
  invalid_topic: ['the topic or pattern is malformed', 'use letters, digits, `_` and `-`, with dots between the parts'],
  invalid_label: ['the label has other characters, or is too long', '`message` has the rule'],
  invalid_cron: ['the expression does not have five valid fields', '`message` names the field'],
  invalid_host: [
    'an entry of `allowed_hosts` is not a host such as `api.example.com` or `*.example.com`',
    'leave out the scheme and the path',
  ],
  never_runs: ['the expression is valid, but no time matches it, such as 31 February', 'choose another date'],
  unknown_timezone: ['the zone is not an IANA name', 'write it like `Europe/Berlin`'],
  invalid_range: [
    'an entry of `allowed_ranges` is not a range such as `192.0.2.0/24`, or has bits beyond its prefix',
    '`message` has the rule',
  ],
  own_user: ['the user is the caller', 'choose another member'],
  invalid_id: ['the id is malformed, or belongs to another kind of object', '`message` has the prefix'],
  invalid_cursor: ['the cursor does not come from this list', 'start again without a cursor'],
  invalid_secret_name: [
    'the name of a secret does not start with a capital letter, or has other characters than those, digits and `_`',
    'write it like `API_TOKEN`',
  ],
  invalid_secret_reference: [
    'a reference to a secret is malformed, or in a field that takes none',
    'write it like `{{ secrets.API_TOKEN }}`',
  ],
  invalid_secret_value: ['the secret is too short, too long, or cannot be sent', '`message` has the rule'],
  invalid_email: ['not an email address', '`message` has the rule'],
  invalid_slug: [
    'the slug has other characters than lower-case letters, digits and single hyphens',
    '`message` has the rule',
  ],
  invalid_token: ['the link is unknown, used or expired', 'ask for a new link'],
  wrong_password: ['the password is not the one of the account', 'try again, or reset it'],
  wrong_code: ['the code is wrong, expired or used', 'enter the latest code of the app'],
  wrong_passkey: ['the passkey is not one of the account, or its challenge is over', 'try again'],
  second_factor_required: [
    'the account has a second factor, so its password confirms nothing',
    'confirm with the second factor',
  ],
  invalid_issuer: ['the issuer is not an https URL without query, user and fragment', 'copy the `iss` of a token'],
  invalid_conditions: ['the conditions do not name the owner of the jobs, or are malformed', '`message` has the rule'],
  unknown_workspace: ['the organization has no such workspace, or the caller may not invite to it', 'choose others'],
  wrong_channel: ['the integration has a channel without this field', 'leave the field out'],
  not_for_sale: ['this installation does not sell the tier', 'choose another tier, or ask the operator'],
}

import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { fromId, type IdKind } from '@belfry/domain/id'
import { idPattern } from '@belfry/domain/id-pattern'
import { readInstant } from '@belfry/domain/instant'
import { secretNames } from '@belfry/domain/secrets/secret-reference'
import { checkTargetUrl } from '@belfry/domain/target-url'
import { isTopic, isTopicPattern } from '@belfry/domain/topic'
import { z } from 'zod'

/** An error of a value: a stable code, and a sentence, or the end of a sentence that starts "<field> must". */
export type Invalid = { code: string; must: string } | { code: string; message: string }

export type TextSchema = Pick<
  z.core.JSONSchema.BaseSchema,
  'format' | 'pattern' | 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'description'
> & { enum?: readonly string[]; type?: 'integer'; examples?: readonly unknown[] }

/** Parses a text into a value, or returns why it is invalid. */
export type TextRule<T> = {
  (text: string): { value: T } | Invalid
  readonly schema?: TextSchema
}

/** Returns a rule with the JSON Schema of its texts. */
export function textRule<T>(schema: TextSchema, read: (text: string) => { value: T } | Invalid): TextRule<T> {
  return Object.assign((text: string) => read(text), { schema })
}

/** Returns a rule for the texts of a schema with a pattern. Lengths count UTF-16 units. */
export function matching(schema: TextSchema & { pattern: string }, code: string, must: string): TextRule<string> {
  const form = new RegExp(schema.pattern)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  return textRule(schema, text => {
    const isMatch = text.length >= minLength && text.length <= maxLength && form.test(text)
    return isMatch ? { value: text } : { code, must }
  })
}

// Ranges, because some readers of OpenAPI documents do not support Unicode properties in patterns.
const control = '\\u0000-\\u001f\\u007f-\\u009f'

/** One line of text. Its length counts Unicode characters, not UTF-16 units. */
export function line(maxLength: number): TextRule<string> {
  return textRule({ minLength: 1, maxLength, pattern: `^[^${control}]*$` }, text => {
    if (text === '') return { code: 'too_short', must: 'not be empty' }
    if (isLongerThan(text, maxLength)) return { code: 'too_long', must: `have at most ${maxLength} characters` }
    const isClean = !/[\p{Cc}\p{Cs}]/u.test(text)
    return isClean ? { value: text } : { code: 'invalid_characters', must: 'not contain control characters' }
  })
}

// A name could change the order of the letters around it.
const directing = '\\u202a-\\u202e\\u2066-\\u2069'
const invisible =
  ' \\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028\\u2029\\u202f\\u205f-\\u2065\\u206a-\\u206f' +
  '\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const namePattern = `^[${invisible}]*[^${control}${directing}${invisible}][^${control}${directing}]*$`
const turn = new RegExp(`[${directing}]`)
const nameForm = new RegExp(namePattern, 'u')
const nameLine = line(200)

/** The name of an object: a line with at least one visible character. */
export const displayName: TextRule<string> = textRule(
  { ...nameLine.schema, pattern: namePattern, examples: ['A name'] },
  text => {
    const result = nameLine(text)
    if (turn.test(text)) return { code: 'invalid_characters', must: 'not contain characters that change its direction' }
    const isBlank = 'value' in result && !nameForm.test(text)
    return isBlank ? { code: 'blank', must: 'contain a visible character' } : result
  },
)

export const newPassword: TextRule<string> = textRule(
  { format: 'password', minLength: 12, maxLength: 128, examples: ['correct horse battery staple'] },
  text => {
    if (!isLongerThan(text, 11)) return { code: 'too_short', must: 'have at least 12 characters' }
    return isLongerThan(text, 128) ? { code: 'too_long', must: 'have at most 128 characters' } : { value: text }
  },
)

/** A plain email address, without quotes, comments or display name. */
export const emailAddress: TextRule<string> = textRule(
  { format: 'email', maxLength: 254, examples: ['ada@example.com'] },
  text => {
    const isAddress = text.length <= 254 && z.regexes.email.test(text)
    return isAddress ? { value: text } : { code: 'invalid_email', must: 'be an email address' }
  },
)

const targetUrlSchema: TextSchema = {
  // Not the format `uri`, because references to secrets are not valid in a URI.
  pattern: `^([Hh][Tt][Tt][Pp][Ss]?://[^/\\\\#]|\\{\\{ *secrets\\.[A-Z][A-Z0-9_]{0,63} *\\}\\})[^\\\\#${control}]*$`,
  maxLength: 2048,
  description: 'An absolute http or https URL without user, password or fragment; may hold `{{ secrets.NAME }}`.',
  examples: ['https://example.com/hooks/reminder'],
}

/** The URL of a target. This rule does not check whether its host is allowed. */
export const targetUrl: TextRule<string> = textRule(targetUrlSchema, text => {
  const message = checkTargetUrl(text)
  return message === null ? { value: text } : { code: 'invalid_url', message }
})

/** A URL that is stored like a secret, and has no references to secrets. */
export function sealedUrl(owner: string, schema: Pick<TextSchema, 'pattern' | 'description'>): TextRule<string> {
  return textRule({ ...targetUrl.schema, ...schema }, text => {
    const message = `The URL of ${owner} is itself a secret; write it without {{ secrets.NAME }}.`
    return secretNames(text).length > 0 ? { code: 'invalid_url', message } : targetUrl(text)
  })
}

export const topic: TextRule<string> = textRule(
  { pattern: '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$', maxLength: 200, examples: ['orders.paid'] },
  text => {
    const must =
      'be a topic such as orders.paid: letters, digits, _ and - in parts joined by dots, at most 200 characters'
    return isTopic(text) ? { value: text } : { code: 'invalid_topic', must }
  },
)

const topicPatternSchema: TextSchema = {
  description: 'A topic, all topics below one (`orders.*`), or all topics (`*`).',
  pattern: '^(\\*|[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(\\.\\*)?)$',
  maxLength: 202,
  examples: ['orders.*'],
}

export const topicPattern: TextRule<string> = textRule(topicPatternSchema, text => {
  const must = 'be a topic such as orders.paid, all topics below one such as orders.*, or * for all topics'
  return isTopicPattern(text) ? { value: text } : { code: 'invalid_topic', must }
})

/** Returns a placeholder for a time that is `afterMs` after it is shown; see `fillExampleTimes`. */
export function exampleTime(afterMs: number): string {
  return `now+${afterMs}`
}

/** Replaces each `exampleTime` in a text by a time. */
export function fillExampleTimes(text: string, nowMs: number): string {
  return text.replace(/now\+(\d+)/g, (_, afterMs: string) => {
    const instant = new Date(nowMs + Number(afterMs)).toISOString()
    return `${instant.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`
  })
}

export const instant: TextRule<Date> = textRule({ format: 'date-time', examples: ['2026-11-21T02:20:00Z'] }, text => {
  const read = readInstant(text)
  return 'value' in read ? read : { code: 'invalid_timestamp', must: read.must }
})

export const timeZone: TextRule<string> = textRule({ examples: ['Europe/Berlin'] }, text => {
  const must =
    'be a time zone name of the IANA database, such as UTC or Europe/Berlin; abbreviations mean several zones'
  return isTimeZone(text) ? { value: text } : { code: 'unknown_timezone', must }
})

export function wholeNumber(min: number, max: number, schema: Pick<TextSchema, 'description'> = {}): TextRule<number> {
  return textRule({ type: 'integer', minimum: min, maximum: max, ...schema }, text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
    const must = `be a whole number from ${min} to ${max}`
    return value >= min && value <= max ? { value } : { code: 'out_of_range', must }
  })
}

/** A public id of one kind, parsed into its UUID. */
export function id(kind: IdKind): TextRule<string> {
  return textRule({ pattern: idPattern(kind), examples: [exampleId(kind)] }, text => {
    const value = fromId(kind, text)
    return value === null ? { code: 'invalid_id', must: `be an id that starts with ${kind}_` } : { value }
  })
}

export function oneOf<const T extends string>(words: readonly T[]): TextRule<T> {
  return textRule({ enum: words }, text => {
    const value = words.find(word => word === text)
    return value === undefined ? { code: 'invalid_value', must: `be one of ${words.join(', ')}` } : { value }
  })
}

export function exampleId(kind: IdKind): string {
  return `${kind}_01kajvz3e9fkwvx3tb1h2c4d5e`
}

// Text has at most as many characters as UTF-16 units, so most texts are not counted.
function isLongerThan(text: string, maxLength: number): boolean {
  return text.length > maxLength && Array.from(text.slice(0, 2 * maxLength + 2)).length > maxLength
}

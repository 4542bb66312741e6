import { checkTargetUrl, fromId, type IdKind, parseInstant } from '@belfry/domain'
import { z } from 'zod'

/** What is wrong with a value: a stable code, and either the rest of a sentence about the field or a whole sentence. */
export type Fault = { code: string; must: string } | { code: string; message: string }

/** Reads the value that a text stands for, or says why it stands for none. */
export type TextRule<T> = (text: string) => { value: T } | Fault

/** One line of text. Its length counts characters as people do, not UTF-16 units. */
export function line(maxLength: number): TextRule<string> {
  return text => {
    const length = lengthUpTo(text, maxLength + 1)
    if (length === 0) return { code: 'too_short', must: 'not be empty' }
    if (length > maxLength) return { code: 'too_long', must: `have at most ${maxLength} characters` }
    const isClean = !/[\p{Cc}\p{Cs}]/u.test(text)
    return isClean ? { value: text } : { code: 'invalid_characters', must: 'not contain control characters' }
  }
}

/** A password to be set. */
export function newPassword(text: string): { value: string } | Fault {
  const length = lengthUpTo(text, 129)
  if (length < 12) return { code: 'too_short', must: 'have at least 12 characters' }
  return length > 128 ? { code: 'too_long', must: 'have at most 128 characters' } : { value: text }
}

/** An address that mail can be sent to, in the plain form: no quotes, comments or display name. */
export function emailAddress(text: string): { value: string } | Fault {
  const isAddress = text.length <= 254 && z.regexes.email.test(text)
  return isAddress ? { value: text } : { code: 'invalid_email', must: 'be an e-mail address' }
}

/** The URL of a target. Whether its host may be called is not decided here. */
export function targetUrl(text: string): { value: string } | Fault {
  const message = checkTargetUrl(text)
  return message === null ? { value: text } : { code: 'invalid_url', message }
}

/** A point in time. */
export function instant(text: string): { value: Date } | Fault {
  const value = parseInstant(text)
  const must = 'be a timestamp with an offset, such as 2026-11-21T02:20:00Z'
  return value === null ? { code: 'invalid_timestamp', must } : { value }
}

/** An id of one kind, read as its UUID. */
export function id(kind: IdKind): TextRule<string> {
  return text => {
    const value = fromId(kind, text)
    return value === null ? { code: 'invalid_id', must: `be an id that begins with ${kind}_` } : { value }
  }
}

/** One of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): TextRule<T> {
  return text => {
    const value = words.find(word => word === text)
    return value === undefined ? { code: 'invalid_value', must: `be one of ${words.join(', ')}` } : { value }
  }
}

function lengthUpTo(text: string, limit: number): number {
  return Array.from(text.slice(0, 2 * limit)).length
}

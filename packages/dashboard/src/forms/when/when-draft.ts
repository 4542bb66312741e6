import { parseWhen, type When } from './parse-when.ts'
import { wallText } from './zoned-time.ts'

/** A time as text. `kept` is the stored time, whose milliseconds the text lacks. */
export type WhenDraft = { text: string; zone: string; kept?: string }

export function draftOfTime(stored: string | null | undefined, zone: string): WhenDraft {
  return stored ? { text: wallText(new Date(stored), zone), zone, kept: stored } : { text: '', zone }
}

/** Parses the text. An untouched time is the stored one. */
export function parseDraft({ text, zone, kept }: WhenDraft): When {
  const isKept = kept !== undefined && text === wallText(new Date(kept), zone)
  return isKept ? { at: new Date(kept), note: null } : parseWhen(text, zone, new Date())
}

/** Returns the time, or null if there is none or it cannot be parsed. */
export function timeIn(draft: WhenDraft): Date | null {
  const when = parseDraft(draft)
  return 'at' in when ? when.at : null
}

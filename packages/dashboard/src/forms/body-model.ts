import { viewerZone } from '../ui/format-time.ts'
import type { FieldErrors } from './use-form.ts'
import { draftOfTime, parseDraft, timeIn, type WhenDraft } from './when/when-draft.ts'

/** How a form edits one field of a body. */
type FieldModel = {
  /** Returns what the inputs show for a stored value, or for a new object. */
  show(stored: never, zone: string): unknown
  /** Returns the value for the body. Only for what `check` accepts. */
  read(shown: never): unknown
  /** Returns what the API would reject. */
  check?(shown: never): string | null
  /** The input that shows the error, where the value is an object. */
  input?: string
}

/** How a form edits a body, by the names of its fields. */
type BodyModel = Readonly<Record<string, FieldModel>>

export type Draft<Model extends BodyModel> = { [Name in keyof Model]: ReturnType<Model[Name]['show']> }
export type Stored<Model extends BodyModel> = { readonly [Name in keyof Model]?: Parameters<Model[Name]['show']>[0] }
type BodyOf<Model extends BodyModel> = { [Name in keyof Model]: ReturnType<Model[Name]['read']> }

/** Returns the fields of a form for a stored object, or for a new one. */
export function draftFor<Model extends BodyModel>(
  model: Model,
  stored: Stored<Model> | null = {},
  zone: string = viewerZone(),
): Draft<Model> {
  const values = new Map<string, unknown>(Object.entries(stored ?? {}))
  return mapped(model, (name, field) => field.show(values.get(name) as never, zone)) as Draft<Model>
}

/** Returns the fields of a body. Only for a draft in which `problemsOf` finds no error. */
export function bodyFrom<Model extends BodyModel>(model: Model, draft: Draft<Model>): BodyOf<Model> {
  return mapped(model, (name, field) => field.read(draft[name] as never)) as BodyOf<Model>
}

/** Returns what the API would reject, by field. */
export function problemsOf<Model extends BodyModel>(model: Model, draft: Draft<Model>): FieldErrors {
  const found = Object.entries<FieldModel>(model).map(([name, { check, input }]) => {
    return [input ? `${name}.${input}` : name, check?.(draft[name] as never) ?? null] as const
  })
  return Object.fromEntries(found.flatMap(([name, message]) => (message === null ? [] : [[name, message]])))
}

function mapped(model: BodyModel, of: (name: string, field: FieldModel) => unknown): object {
  return Object.fromEntries(Object.entries(model).map(([name, field]) => [name, of(name, field)]))
}

/** A text that is required. */
export function requiredText(missing: string, check: (text: string) => string | null = () => null) {
  return {
    show: (stored = '') => stored,
    read: (shown: string) => shown.trim(),
    check: (shown: string) => (shown.trim() === '' ? missing : check(shown.trim())),
  }
}

/** A text that may be empty, which is null in the body. */
export function optionalText(check: (text: string) => string | null = () => null) {
  return {
    show: (stored?: string | null) => stored ?? '',
    read: (shown: string) => shown.trim() || null,
    check: (shown: string) => (shown.trim() === '' ? null : check(shown.trim())),
  }
}

/** One of some values. */
export function choice<Value extends string>(initial: Value) {
  return {
    show: (stored: string = initial) => stored as Value, // the API stores no other
    read: (shown: Value) => shown,
  }
}

/** A duration, in seconds. Empty is null. */
export function optionalSeconds(max: number) {
  return {
    show: (ms?: number | null) => (ms === null || ms === undefined ? '' : String(ms / 1000)),
    read: (shown: string) => (shown.trim() === '' ? null : Math.round(Number(shown) * 1000)),
    check(shown: string) {
      const isValid = shown.trim() === '' || (Number(shown) >= 1 && Number(shown) <= max)
      return isValid ? null : `Enter 1 to ${max.toLocaleString('en')} seconds.`
    },
  }
}

/** A time. Empty is null. */
export const optionalTime = {
  show: draftOfTime,
  read: (shown: WhenDraft) => timeIn(shown)?.toISOString() ?? null,
  check(shown: WhenDraft) {
    const when = parseDraft(shown)
    return shown.text.trim() !== '' && 'error' in when ? when.error : null
  },
}

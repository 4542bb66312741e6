import type { IdKind } from '@belfry/domain/id'
import { idPattern } from '@belfry/domain/id-pattern'
import { z } from 'zod'
import { exampleId } from './text-rules.ts'

export function idField(kind: IdKind) {
  return z.string().meta({ pattern: idPattern(kind), examples: [exampleId(kind)] })
}

/** The id of a user or an API key in a response, or null. */
export function authorField(description: string) {
  return textOrNull(description, exampleId('key'))
}

/** A timestamp in a response, in UTC with milliseconds. */
export function timestampField() {
  return z.string().meta({ format: 'date-time', examples: ['2026-11-21T02:20:00.000Z'] })
}

export function millisecondsField(example: number) {
  return z.int().meta({ examples: [example] })
}

export function shownNumber(description: string, example: number) {
  return z.int().meta({ description, examples: [example] })
}

export function shownFlag(description: string, example?: boolean) {
  return z.boolean().meta(example === undefined ? { description } : { description, examples: [example] })
}

export function shownText(description: string, example: string) {
  return z.string().meta({ description, examples: [example] })
}

export function shownTexts(description: string, example: string[]) {
  return z.array(z.string()).meta({ description, examples: [example] })
}

export function orNull<Schema extends z.ZodType>(schema: Schema, meta: z.core.GlobalMeta) {
  return schema.nullable().meta(meta)
}

export function textOrNull(description: string, example: string | null = null) {
  return orNull(z.string(), { description, examples: [example] })
}

export function numberOrNull(description: string, example: number | null = null) {
  return orNull(z.int(), { description, examples: [example] })
}

export function timeOrNull(description: string, example?: null) {
  return orNull(timestampField(), example === undefined ? { description } : { description, examples: [example] })
}

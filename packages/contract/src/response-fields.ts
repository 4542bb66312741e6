import type { IdKind } from '@belfry/domain/id'
import { idPattern } from '@belfry/domain/id-pattern'
import { z } from 'zod'
import { exampleId } from './text-rules.ts'

/** An id in a response. */
export function idField(kind: IdKind) {
  return z.string().meta({ pattern: idPattern(kind), examples: [exampleId(kind)] })
}

/** The id of a user or an API key in a response, or null. */
export function authorField(description: string) {
  return orNull(z.string(), { description, examples: [exampleId('key')] })
}

/** A timestamp in a response, in UTC with milliseconds. */
export function timestampField() {
  return z.string().meta({ format: 'date-time', examples: ['2026-11-21T02:20:00.000Z'] })
}

/** A number of milliseconds in a response. */
export function millisecondsField(example: number) {
  return z.int().meta({ examples: [example] })
}

/** A field of a response that may be null. */
export function orNull<Schema extends z.ZodType>(schema: Schema, meta: z.core.GlobalMeta) {
  return schema.nullable().meta(meta)
}

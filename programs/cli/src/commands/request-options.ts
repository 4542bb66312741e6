import type { OptionField } from '@belfry/contract/openapi/option-fields'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { parseHeaders, repeated } from '../parse-options.ts'
import { readBytes, readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'

export type RequestFlags = FieldFlags & { data?: string; text?: string; file?: string; header?: string[] }

/** Adds the options of a request to a command: options for its fields, and for its body as a text or a file. */
export function withRequestOptions(command: Command, fields: readonly OptionField[]): Command {
  command
    .option('-d, --data <json>', 'the body, as JSON; @file reads it from a file, @- from standard input')
    .option('--text <text>', 'the body, as plain text instead of --data')
    .option('--file <path>', 'the body, as the bytes of a file instead of --data; - reads standard input')
  return withHeaders(withFields(command, fields))
}

export function withHeaders(command: Command): Command {
  return command.addOption(repeated('-H, --header <name: value>', 'a header; can be repeated'))
}

/** Returns a request whose payload is JSON text, or the bytes of a file in base64. */
export async function requestOf<Body>(
  ctx: Context,
  fields: readonly OptionField[],
  flags: RequestFlags,
): Promise<Partial<Omit<Body, 'payload'>> & { payload?: string }> {
  const { data, text, file, contentType, retries, retryDelays } = flags
  const bodies = [data, text, file].filter(body => body !== undefined)
  if (bodies.length > 1) throw new UsageError('Give only one of --data, --text and --file.')
  if (contentType !== undefined && file === undefined) {
    throw new UsageError('--content-type belongs to --file. For --data and --text, give the header Content-Type.')
  }
  if (retries !== undefined && retryDelays !== undefined) {
    throw new UsageError('Give --retries or --retry-delays, not both.')
  }
  const headers = parseHeaders(flags.header)
  const isTyped = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
  if (text !== undefined && !isTyped) headers['Content-Type'] = 'text/plain; charset=utf-8'
  const asJson = text === undefined ? undefined : JSON.stringify(text)
  const payload = data === undefined ? asJson : await readJson(ctx, data)
  return {
    ...bodyOf<Partial<Omit<Body, 'payload'>>>(fields, flags),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(payload !== undefined && { payload }),
    ...(file !== undefined && { payloadBase64: (await readBytes(ctx, file)).toString('base64') }),
  }
}

async function readJson(ctx: Context, data: string): Promise<string> {
  const text = data.startsWith('@') ? await readInput(ctx, data.slice(1)) : data
  try {
    JSON.parse(text)
  } catch {
    throw new UsageError('--data is not JSON. Use --text for plain text.')
  }
  return text.trim()
}

import type { ControlFields, MethodInput, RequestFields } from '@belfry/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Context } from '../context.ts'
import { parseDuration } from '../parse-duration.ts'
import { number, parseHeaders, repeated } from '../parse-options.ts'
import { readBytes, readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'

export type RequestFlags = {
  method?: MethodInput
  data?: string
  text?: string
  file?: string
  contentType?: string
  onSuccess?: string
  onFailure?: string
  onAttempt?: string
  header?: string[]
  retries?: number
  retryDelays?: string
  timeout?: string
  queue?: string
  connection?: string
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Adds the options of a request to a command. */
export function withRequestOptions(command: Command): Command {
  command
    .addOption(new Option('-X, --method <method>', `${methods.join(', ')} (default: POST)`).argParser(parseMethod))
    .option('-d, --data <json>', 'the body, as JSON; @file reads it from a file, @- from standard input')
    .option('--text <text>', 'the body, as plain text instead of --data')
    .option('--file <path>', 'the body, as the bytes of a file instead of --data; - reads standard input')
    .option('--content-type <type>', 'the content type of --file (default: application/octet-stream)')
    .option('--connection <name>', 'the connection that authenticates the calls')
  return withDeliveryOptions(command)
}

/** Adds the options of a delivery that events have too. */
export function withDeliveryOptions(command: Command): Command {
  return command
    .addOption(repeated('-H, --header <name: value>', 'a header; can be repeated'))
    .addOption(number('--retries <n>', 'the maximum number of retries (default: 5)', { max: 20 }))
    .option('--retry-delays <times>', 'the delay before each retry, such as 10s,5m,2h, instead of --retries')
    .option('--timeout <time>', 'the time limit of an attempt, such as 30s (default: 30s)')
    .option('--queue <name>', 'the queue that limits the attempts')
    .option('--on-success <url>', 'called with the task and the run when the task succeeds')
    .option('--on-failure <url>', 'called when the task is dead')
    .option('--on-attempt <url>', 'called after each attempt')
}

export type ControlFlags = { maxAge?: string; label?: string[] }

/** Adds the options for the deadline and the labels of the tasks that a command creates. */
export function withControlOptions(command: Command): Command {
  return command
    .option('--max-age <time>', 'no attempt starts this long after the time of the task, such as 10m')
    .addOption(repeated('--label <label>', 'a label such as customer:42; can be repeated'))
}

/** Returns the fields of these options. */
export function controlFields({ maxAge, label }: ControlFlags): ControlFields {
  return {
    ...(maxAge === undefined ? {} : { maxAgeMs: parseDuration(maxAge) }),
    ...(label ? { labels: label } : {}),
  }
}

function parseMethod(text: string): MethodInput {
  const method = methods.find(one => one === text.toUpperCase())
  if (method) return method
  throw new InvalidArgumentError(`Choose from ${methods.join(', ')}.`)
}

/** Returns the request of these options. Its payload is JSON text, or the bytes of a file in base64. */
export async function requestFields(
  ctx: Context,
  flags: RequestFlags,
): Promise<Omit<RequestFields, 'payload'> & { payload?: string }> {
  const bodies = [flags.data, flags.text, flags.file].filter(body => body !== undefined)
  if (bodies.length > 1) throw new UsageError('Give only one of --data, --text and --file.')
  if (flags.contentType !== undefined && flags.file === undefined) {
    throw new UsageError('--content-type belongs to --file. For --data and --text, give the header Content-Type.')
  }
  if (flags.retries !== undefined && flags.retryDelays !== undefined) {
    throw new UsageError('Give --retries or --retry-delays, not both.')
  }
  const headers = parseHeaders(flags.header)
  const isTyped = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
  if (flags.text !== undefined && !isTyped) headers['Content-Type'] = 'text/plain; charset=utf-8'
  return {
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(flags.data === undefined ? {} : { payload: await readJson(ctx, flags.data) }),
    ...(flags.text === undefined ? {} : { payload: JSON.stringify(flags.text) }),
    ...(flags.file === undefined ? {} : { payloadBase64: (await readBytes(ctx, flags.file)).toString('base64') }),
    ...(flags.contentType === undefined ? {} : { contentType: flags.contentType }),
    ...(flags.onSuccess === undefined ? {} : { onSuccess: { url: flags.onSuccess } }),
    ...(flags.onFailure === undefined ? {} : { onFailure: { url: flags.onFailure } }),
    ...(flags.onAttempt === undefined ? {} : { onAttempt: { url: flags.onAttempt } }),
    ...(flags.retries === undefined ? {} : { retry: { maxRetries: flags.retries } }),
    ...(flags.retryDelays === undefined
      ? {}
      : { retry: { delaysMs: flags.retryDelays.split(',').map(delay => parseDuration(delay.trim())) } }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: parseDuration(flags.timeout) }),
    ...(flags.queue === undefined ? {} : { queue: flags.queue }),
    ...(flags.connection === undefined ? {} : { connection: flags.connection }),
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

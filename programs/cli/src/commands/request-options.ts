import type { ControlFields, MethodInput, RequestFields } from '@belfry/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Context } from '../context.ts'
import { given, ifGiven, number, parseDuration, parseHeaders, repeated } from '../parse-options.ts'
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
export function controlFields({ maxAge, label: labels }: ControlFlags): ControlFields {
  return given({ maxAgeMs: ifGiven(maxAge, parseDuration), labels })
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
  const { data, text, file, contentType, retries, queue, connection } = flags
  const bodies = [data, text, file].filter(body => body !== undefined)
  if (bodies.length > 1) throw new UsageError('Give only one of --data, --text and --file.')
  if (contentType !== undefined && file === undefined) {
    throw new UsageError('--content-type belongs to --file. For --data and --text, give the header Content-Type.')
  }
  if (retries !== undefined && flags.retryDelays !== undefined) {
    throw new UsageError('Give --retries or --retry-delays, not both.')
  }
  const headers = parseHeaders(flags.header)
  const isTyped = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
  if (text !== undefined && !isTyped) headers['Content-Type'] = 'text/plain; charset=utf-8'
  const callback = (target: string | undefined) => ifGiven(target, url => ({ url }))
  const delaysMs = flags.retryDelays?.split(',').map(delay => parseDuration(delay.trim()))
  return given({
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    payload: data === undefined ? ifGiven(text, JSON.stringify) : await readJson(ctx, data),
    payloadBase64: file === undefined ? undefined : (await readBytes(ctx, file)).toString('base64'),
    contentType,
    onSuccess: callback(flags.onSuccess),
    onFailure: callback(flags.onFailure),
    onAttempt: callback(flags.onAttempt),
    retry: retries === undefined ? delaysMs && { delaysMs } : { maxRetries: retries },
    timeoutMs: ifGiven(flags.timeout, parseDuration),
    queue,
    connection,
  })
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

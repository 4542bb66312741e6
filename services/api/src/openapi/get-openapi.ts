import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { describeApi, type OpenApiDocument, writeApi } from '@belfry/contract/openapi/document'
import { operations } from '@belfry/contract/operations'
import { fillExampleTimes } from '@belfry/contract/text-rules'
import { version } from '@belfry/domain/version'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type Reply, text } from '../http/reply.ts'
import { pageHeaders, renderReference } from './render-page.ts'

const sendDocument = documentSender('application/json', writeApi)
const sendReference = documentSender('text/html', renderReference, pageHeaders)

/** Serves the description of the API. */
export const getOpenApi = endpoint(operations.getOpenApi, (ctx, { request }) => sendDocument(ctx, request))

/** Serves the reference of the API. */
export const getReference = endpoint(operations.getReference, (ctx, { request }) => sendReference(ctx, request))

const compress = promisify(gzip)

/** Returns a function that writes a form of the document once, and fills in its times and compresses it once a minute at most. */
function documentSender(type: string, write: (document: OpenApiDocument) => string, headers = {}) {
  let written: string | undefined
  let current: { minute: number; plain: Buffer; compressed: Promise<Buffer> } | undefined
  return async (ctx: Context, request: Request): Promise<Reply> => {
    const now = ctx.clock.now()
    const minute = Math.floor(now / 60_000)
    if (current?.minute !== minute) {
      written ??= write(describeApi(ctx.config.publicUrl, version))
      const plain = Buffer.from(fillExampleTimes(written, now))
      current = { minute, plain, compressed: compress(plain) }
    }
    const { plain, compressed } = current
    const varied = { ...headers, Vary: 'Accept-Encoding' }
    if (request.acceptsEncodings('gzip', 'identity') !== 'gzip') return text(type, plain, varied)
    return text(type, await compressed, { ...varied, 'Content-Encoding': 'gzip' })
  }
}

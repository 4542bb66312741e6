import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type ExplainedCode, fieldErrors, runErrors } from '@belfry/contract/explained-codes'
import { describeApi, type OpenApiDocument, writeApi } from '@belfry/contract/openapi/document'
import { operations } from '@belfry/contract/operations'
import { problems } from '@belfry/contract/problem'
import { fillExampleTimes } from '@belfry/contract/text-rules'
import { notFound } from '@belfry/domain/app-error'
import { version } from '@belfry/domain/version'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ApiResponse } from '../http/response.ts'
import { escapeHtml, pageHeaders, renderPage, renderProse, renderReference } from './render-page.ts'

const compress = promisify(gzip)

export const getOpenApi = endpoint(operations.getOpenApi, documentSender(writeApi))

export const getReference = endpoint(operations.getReference, documentSender(renderReference, pageHeaders))

/** Makes a handler that writes a form of the document once, and fills in its times and compresses it once a minute at most. */
function documentSender(write: (document: OpenApiDocument) => string, headers = {}) {
  let written: string | undefined
  let current: { minute: number; plain: Buffer; compressed: Promise<Buffer> } | undefined
  return async (ctx: Context, { request }: { request: Request }): Promise<ApiResponse> => {
    const now = ctx.clock.now()
    const minute = Math.floor(now / 60_000)
    if (current?.minute !== minute) {
      written ??= write(describeApi(ctx.config.publicUrl, version))
      const plain = Buffer.from(fillExampleTimes(written, now))
      current = { minute, plain, compressed: compress(plain) }
    }
    const { plain, compressed } = current
    const varied = { ...headers, Vary: 'Accept-Encoding' }
    if (request.acceptsEncodings('gzip', 'identity') !== 'gzip')
      return new ApiResponse({ status: 200, text: plain, headers: varied })
    const zipped = { ...varied, 'Content-Encoding': 'gzip' }
    return new ApiResponse({ status: 200, text: await compressed, headers: zipped })
  }
}

/** Serves the target of a problem's `type`, and the codes of fields and runs: a page for browsers, JSON for other clients. */
export const getProblem = endpoint(operations.getProblem, async (_ctx, { request, params: { code } }) => {
  const [first, ...others] = explain(code)
  if (!first) throw notFound()
  const description = [first, ...others].map(one => one.text).join('\n\n')
  const page = { code, status: first.status, title: first.title, description }
  if (request.accepts('json', 'html') !== 'html')
    return new ApiResponse({ status: 200, body: page, headers: { Vary: 'Accept' } })
  return new ApiResponse({ status: 200, text: renderProblem(page), headers: { ...pageHeaders, Vary: 'Accept' } })
})

/** Returns what a code means in a response, a field and a run, where it exists. */
function explain(code: string): Array<{ status: number | null; title: string; text: string }> {
  const [problem, field, run] = [problems, fieldErrors, runErrors].map(
    (codes: object) => Object.entries(codes).find(([known]) => known === code)?.[1],
  )
  return [
    ...(problem ? [{ status: problem.status, title: problem.title, text: problem.description }] : []),
    ...(field ? [{ status: null, title: titleOf(code), text: `Of an invalid field: ${sentences(field)}` }] : []),
    ...(run ? [{ status: null, title: titleOf(code), text: `Of a failed run: ${sentences(run)}` }] : []),
  ]
}

function sentences([cause, action]: ExplainedCode): string {
  return `${cause}.\n\nWhat to do: ${action}.`
}

function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ').replace(/\b(dns|http|id|pem|tls|url)\b/g, word => word.toUpperCase())
  return `${words[0]?.toUpperCase()}${words.slice(1)}`
}

type ProblemPage = { code: string; status: number | null; title: string; description: string }

function renderProblem({ code, status, title, description }: ProblemPage): string {
  const where = status === null ? '' : `, status ${status}`
  const content = `<main class="one"><p><code>${code}</code>${where}</p><h1>${escapeHtml(title)}</h1>
${renderProse(description)}<p><a href="/api/docs">Reference</a></p></main>`
  return renderPage(title, content)
}

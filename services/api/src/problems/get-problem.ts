import { problemPage, problems } from '@belfry/contract'
import { appErrorCodes } from '@belfry/domain'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok, text } from '../http/reply.ts'
import { escapeHtml, renderProse } from '../openapi/html.ts'
import { pageHeaders, renderPage } from '../openapi/render-page.ts'

/** Serves the target of a problem's `type`: a page for browsers, JSON for other clients. */
export const getProblem = endpoint({
  right: 'public',
  summary: 'Describe a problem code',
  answer: { status: 200, body: problemPage, texts: ['text/html'] },
  refusals: ['not_found'],
  async handle(_ctx, { request }) {
    const code = appErrorCodes.find(known => known === request.params.code)
    if (!code) throw notFound()
    const page = { code, ...problems[code] }
    if (request.accepts('json', 'html') !== 'html') return { ...ok(page), headers: { Vary: 'Accept' } }
    return text('text/html', renderProblem(page), { ...pageHeaders, Vary: 'Accept' })
  },
})

function renderProblem({
  code,
  status,
  title,
  description,
}: {
  code: string
  status: number
  title: string
  description: string
}) {
  const content = `<main class="one"><p><code>${code}</code>, status ${status}</p><h1>${escapeHtml(title)}</h1>
${renderProse(description)}<p><a href="/api/docs">Reference</a></p></main>`
  return renderPage(title, content)
}

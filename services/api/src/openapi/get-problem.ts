import { fieldErrors, runErrors } from '@belfry/contract/explained-codes'
import { operations } from '@belfry/contract/operations'
import { problems } from '@belfry/contract/problem'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { Reply, text } from '../http/reply.ts'
import { escapeHtml, renderProse } from './html.ts'
import { pageHeaders, renderPage } from './render-page.ts'

/** Serves the target of a problem's `type`, and the codes of fields and runs: a page for browsers, JSON for other clients. */
export const getProblem = endpoint(operations.getProblem, async (_ctx, { request }) => {
  const code = String(request.params.code)
  const [first, ...others] = explain(code)
  if (!first) throw notFound()
  const description = [first, ...others].map(one => one.text).join('\n\n')
  const page = { code, status: first.status, title: first.title, description }
  if (request.accepts('json', 'html') !== 'html')
    return new Reply({ status: 200, body: page, headers: { Vary: 'Accept' } })
  return text('text/html', renderProblem(page), { ...pageHeaders, Vary: 'Accept' })
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

function sentences({ cause, action }: { cause: string; action: string }): string {
  return `${cause}.\n\nWhat to do: ${action}.`
}

function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ').replace(/\b(dns|http|id|pem|tls|url)\b/g, word => word.toUpperCase())
  return `${words[0]?.toUpperCase()}${words.slice(1)}`
}

function renderProblem({
  code,
  status,
  title,
  description,
}: {
  code: string
  status: number | null
  title: string
  description: string
}) {
  const where = status === null ? '' : `, status ${status}`
  const content = `<main class="one"><p><code>${code}</code>${where}</p><h1>${escapeHtml(title)}</h1>
${renderProse(description)}<p><a href="/api/docs">Reference</a></p></main>`
  return renderPage(title, content)
}

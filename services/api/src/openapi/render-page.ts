import { createHash } from 'node:crypto'
import type { Operation } from '@belfry/contract/openapi/describe-operation'
import { type OpenApiDocument, sectionsOf } from '@belfry/contract/openapi/document'
import { escapeHtml, renderProse } from './html.ts'
import { pageStyle } from './page-style.ts'
import { renderOperation } from './render-operation.ts'

const styleHash = createHash('sha256').update(pageStyle).digest('base64')

/** Headers that let a browser load nothing but the style in these pages. */
export const pageHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
}

/** Renders a page in the style of the reference. */
export function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>${content}</body>
</html>`
}

/** Renders the reference of the whole API as one page without scripts. */
export function renderReference(document: OpenApiDocument): string {
  const sections = sectionsOf(document).map(({ tag, title, operations }) => {
    const articles = operations.map(({ method, path, operation }) =>
      renderOperation(method, path, operation, document.components.schemas),
    )
    return {
      links: `<h2><a href="#tag-${tag}">${title}</a></h2><ul>${operations.map(toLink).join('')}</ul>`,
      content: `<section id="tag-${tag}"><h2>${title}</h2>${articles.join('')}</section>`,
    }
  })
  const { info } = document
  return renderPage(
    `${info.title} reference`,
    `<header><h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p><a href="/api/openapi.json">OpenAPI 3.1</a></p></header>
<div class="page"><nav aria-label="Operations">${sections.map(({ links }) => links).join('')}</nav>
<main>${renderProse(info.description)}${sections.map(({ content }) => content).join('')}</main></div>`,
  )
}

function toLink({ method, operation }: { method: string; operation: Operation }): string {
  return `<li><a href="#${operation.operationId}"><b class="method ${method}">${method.toUpperCase()}</b> ${escapeHtml(operation.summary)}</a></li>`
}

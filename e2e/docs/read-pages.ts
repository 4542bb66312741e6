import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import Slugger from 'github-slugger'
import type { Code, Nodes } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { toString as textOf } from 'mdast-util-to-string'
import { repositoryRoot } from '../repository-root.ts'

/** The comment before a block. */
export type Mark = { kind: 'not run' | 'prints' | 'runs until stopped'; text: string }

/** A fenced block of a page. */
export type Block = { page: string; line: number; language: string; text: string; mark: Mark | null }

export type Page = {
  /** Relative to the root of the repository. */
  path: string
  blocks: Block[]
  /** The names that a link may have after a `#`. */
  anchors: Set<string>
  /** The addresses of links and pictures, also of those in HTML. */
  links: string[]
}

// `pages` are the copies that the site is built from.
const notOurs = new Set(['node_modules', 'dist', 'generated', 'results', 'pages'])

/** Returns every page of the repository. */
export function readPages(): Page[] {
  const root = repositoryRoot()
  return findMarkdown(root).map(file => readPage(relative(root, file), readFileSync(file, 'utf8')))
}

function findMarkdown(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return entry.name.endsWith('.md') ? [path] : []
    const isOurs = entry.isDirectory() && !entry.name.startsWith('.') && !notOurs.has(entry.name)
    return isOurs ? findMarkdown(path) : []
  })
}

/** Reads one page. */
export function readPage(path: string, markdown: string): Page {
  const page: Page = { path, blocks: [], anchors: new Set(), links: [] }
  const slugger = new Slugger()
  visit(fromMarkdown(markdown), (node, before) => {
    if (node.type === 'heading') page.anchors.add(slugger.slug(textOf(node)))
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition') page.links.push(node.url)
    if (node.type === 'html') readHtml(node.value, page)
    if (node.type === 'code') page.blocks.push(toBlock(path, node, before))
  })
  return page
}

function visit(node: Nodes, see: (node: Nodes, before: Nodes | undefined) => void, before?: Nodes): void {
  see(node, before)
  if ('children' in node) node.children.forEach((child, at) => void visit(child, see, node.children[at - 1]))
}

function readHtml(html: string, { anchors, links }: Page): void {
  for (const [, url = ''] of html.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)) links.push(url)
  for (const [, id = ''] of html.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(id)
}

function toBlock(page: string, code: Code, before: Nodes | undefined): Block {
  const mark = before?.type === 'html' ? readMark(before.value) : null
  return { page, line: code.position?.start.line ?? 0, language: code.lang ?? '', text: code.value, mark }
}

function readMark(comment: string): Mark | null {
  const [, kind, text = ''] =
    /^<!--\s*(not run|prints|runs until stopped)(?::\s*([\s\S]+?))?\s*-->$/.exec(comment) ?? []
  return kind ? { kind: kind as Mark['kind'], text } : null // the expression names all kinds
}

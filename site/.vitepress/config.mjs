import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { slug } from 'github-slugger'

const read = path => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const { version } = read('../package.json')
const navigation = read('../pages/navigation.json')

// Set by build.mjs, which builds every version.
const { SITE_BASE = '/', SITE_VERSIONS = '[]', SITE_LABEL = version, REPOSITORY_URL } = process.env
const versions = JSON.parse(SITE_VERSIONS)

export default {
  title: 'Belfry',
  description: 'Schedule HTTP calls, on your own servers.',
  lang: 'en',
  base: SITE_BASE,
  srcDir: 'pages',
  outDir: 'dist',
  // The same pages as Markdown.
  srcExclude: ['public/**'],
  cleanUrls: false,
  // VitePress gives a main landmark to all pages but the home page.
  transformHtml: html => html.replace('class="VPContent is-home"', '$& role="main"'),
  // The build fails on a link to a page that does not exist.
  ignoreDeadLinks: [/^https?:\/\/localhost/],
  router: { prefetchLinks: false },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Headings have the ids that they have on GitHub.
    anchor: { slugify: slug },
    config: showBraces,
  },
  head: [['meta', { name: 'color-scheme', content: 'light dark' }]],
  themeConfig: {
    siteTitle: 'Belfry',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'HTTP API', link: '/api' },
      { text: 'Self-hosting', link: '/self-hosting' },
      { text: 'Changelog', link: '/changelog' },
      {
        text: SITE_LABEL,
        items: versions.map(({ label, path }) => ({ text: label, link: fromBase(path), target: '_self' })),
      },
    ],
    sidebar: navigation,
    socialLinks: REPOSITORY_URL ? [{ icon: 'github', link: REPOSITORY_URL }] : [],
    footer: { message: 'MIT licensed' },
  },
}

// VitePress puts the base of this version before each link.
function fromBase(path) {
  return `/${posix.relative(SITE_BASE, path)}/`.replace('//', '/')
}

// Vue would evaluate `{{ secrets.NAME }}`.
function showBraces({ renderer: { rules } }) {
  for (const name of ['text', 'code_inline']) {
    const render = rules[name]
    rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
  }
}

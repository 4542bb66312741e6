// Prints the section of a version in the changelog: `node scripts/release-notes.mjs 0.2.0`. With `--check v0.2.0` it prints the
// version of that tag, and fails unless the manifests, the chart and the changelog have it.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from './is-program.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const read = path => readFileSync(resolve(root, path), 'utf8')

/** Returns the text below the heading of a version, such as `## 0.2.0 (2026-11-24)`; null without one. */
export function notesOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find(text => /^(\S+) \(\d{4}-\d{2}-\d{2}\)\n/.exec(text)?.[1] === version)
  return section ? section.slice(section.indexOf('\n')).trim() : null
}

/** Returns what keeps a tag from being released. */
export function findReleaseProblems(tag, readText = read) {
  const version = tag.replace(/^v/, '')
  const versionOf = path => JSON.parse(readText(path)).version
  const places = {
    'package.json': versionOf('package.json'),
    'packages/client/package.json': versionOf('packages/client/package.json'),
    'programs/cli/package.json': versionOf('programs/cli/package.json'),
    'programs/belfry/package.json': versionOf('programs/belfry/package.json'),
    'packages/testing/package.json': versionOf('packages/testing/package.json'),
    'k8s/chart/Chart.yaml': /^version: (.*)$/m.exec(readText('k8s/chart/Chart.yaml'))?.[1],
  }
  const problems = Object.entries(places).flatMap(([path, own]) =>
    own === version ? [] : [`${path} has the version ${own}, not ${version}.`],
  )
  if (!/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(tag)) problems.push(`The tag ${tag} has no form like v0.2.0.`)
  if (!notesOf(readText('CHANGELOG.md'), version)) problems.push(`CHANGELOG.md has no dated section ${version}.`)
  return problems
}

if (isProgram(import.meta.url)) {
  const [first = '', tag = ''] = process.argv.slice(2)
  const problems = first === '--check' ? findReleaseProblems(tag) : []
  const result = first === '--check' ? tag.slice(1) : notesOf(read('CHANGELOG.md'), first)
  if (result === null) problems.push(`CHANGELOG.md has no dated section ${first}.`)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
  else process.stdout.write(`${result}\n`)
}

// A part of `npm run lint`: finds words that docs/architecture.md ("Words") and CONTRIBUTING.md keep out of code and text.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from './is-program.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

const rules = [
  {
    words: /\b(some(body|one)|anybody|nobody|everybody|who(so)?ever|whatever|one that|what is)\b/i,
    advice: 'name the caller, the scheduler, the dispatcher, the client, PostgreSQL ...',
  },
  { words: /\b(besides|dear|so that)\b/i, advice: 'say "also", "expensive", "so"' },
  {
    words: /\b(tells? of|hears? of|at it|go(es|ing)? on|as long as it lives)\b/i,
    advice: 'say "reports", "receives", "continues"',
  },
  { words: /\bunder[- ]?way\b/i, advice: 'say "in flight" or "running"' },
  { words: /\b(most|longest|shortest|fewest|narrowest)[A-Z]\w*/, advice: 'name limits min* and max*' },
]

// Comments of the product repeat the noun, begin another sentence, and say what is done.
const commentRule = {
  words: /(?<=^\s*(\/\/|\/?\*).*)(\b(those|that) of\b|, which\b|\bof (its|their) own\b|\b(neither|nor)\b)/i,
  advice: 'repeat the noun, or begin another sentence',
}

/** Returns the words in a text that the project does not use, each with its line and what to say instead. */
export function findBannedWords(text, isProduct = false) {
  return text.split('\n').flatMap((line, index) =>
    (isProduct ? [...rules, commentRule] : rules).flatMap(({ words, advice }) => {
      const [found] = words.exec(line) ?? []
      return found === undefined ? [] : [{ line: index + 1, found, advice }]
    }),
  )
}

const isText = /\.(ts|tsx|mjs|css|html|md|sql|prisma|json|ya?ml)$|(^|\/)[^.]+$|\.env\.example$/
const product =
  /^(prisma|packages|services|programs)\/(?!test-support\/)(?!.*\/?(test|dev)\/)(?!.*\.(test|long|timing)\.).*\.tsx?$/
// Migrations never change once they are released, and this file and its test have to name the words.
const isLeftOut = /^pnpm-lock\.yaml$|^prisma\/migrations\/|\/(check-)?language(\.test)?\.\w+$/

function check() {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
  const hits = files
    .filter(file => isText.test(file) && !isLeftOut.test(file) && existsSync(join(root, file)))
    .flatMap(file =>
      findBannedWords(readFileSync(join(root, file), 'utf8'), product.test(file)).map(hit => ({ file, ...hit })),
    )
  for (const { file, line, found, advice } of hits) console.error(`${file}:${line}: "${found}": ${advice}`)
  if (hits.length > 0) process.exitCode = 1
}

if (isProgram(import.meta.url)) check()

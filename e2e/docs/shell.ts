import { join } from 'node:path'
import type { ProcessResult } from '@belfry/test-support/servers'
import { repositoryRoot } from '../repository-root.ts'
import type { Block } from './read-pages.ts'
import { runForAWhile, runProgram } from './run-program.ts'
import type { Stage } from './stage.ts'

const root = repositoryRoot()

// A rejection by the API ends the page, like every other failure. The clouds and the crontab of the machine are files.
const prelude = `set -euo pipefail
shopt -s expand_aliases
curl() { command curl --fail-with-body --silent --show-error "$@"; }
belfry() { "${process.execPath}" "${join(root, 'programs/cli/dist/main.mjs')}" "$@"; }
npx() { local program=$1; shift; "$program" "$@"; }
pnpm() {
  "${process.execPath}" "${join(root, 'node_modules/pnpm/bin/pnpm.cjs')}" -C "${root}" --config.ignore-scripts=true \\
    "\${@/#../$PWD/..}"
}
crontab() { cat crontab.txt; }
gcloud() { cat gcloud.json; }
aws() { if [ "$2" = list-schedules ]; then echo daily-report; else cat aws.json; fi; }
`

/** The line before the output of a block. */
const sign = (line: number) => `=== the block at line ${line} ===`

/** Runs the blocks of one page in one shell, in their order. */
export async function runShell(
  stage: Stage,
  blocks: readonly Block[],
): Promise<ProcessResult & { outputs: Map<number, string> }> {
  const parts = blocks.map(({ line, text }) => `echo; echo '${sign(line)}'\n${stage.fillIn(text)}\n`)
  const ended = await runProgram(bash(stage, prelude + parts.join('')))
  const starts = blocks.map(({ line }) => ended.out.indexOf(sign(line)))
  const outputs = blocks.map(({ line }, at): [number, string] => {
    const from = starts[at] ?? -1
    const to = starts[at + 1] ?? -1
    return [line, from < 0 ? '' : ended.out.slice(from, to < 0 ? undefined : to)]
  })
  return { ...ended, outputs: new Map(outputs) }
}

/** Runs a block that does not end by itself. */
export function runEndlessShell(stage: Stage, block: Block): Promise<ProcessResult> {
  return runForAWhile(bash(stage, prelude + stage.fillIn(block.text)))
}

function bash(stage: Stage, script: string) {
  return { file: 'bash', args: ['-c', script], folder: stage.project.checkout, env: stage.env }
}

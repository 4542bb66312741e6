import type { Command } from 'commander'
import { readInstallation } from '../config.ts'
import { writeBundle } from './bundle.ts'
import { type DoctorOptions, examine } from './examine.ts'
import { exitCodeOf, formatReport } from './print-report.ts'
import { createRedaction } from './redact.ts'

type Options = DoctorOptions & { json?: boolean; bundle?: string }

export function addDoctor(program: Command): void {
  const collect = (value: string, all: string[]) => [...all, value]
  program
    .command('doctor')
    .description('check this installation, running or stopped, and say what to do')
    .option('--json', 'print the findings as one JSON object')
    .option('--bundle <file>', 'also write a support archive (tar.gz) without secrets and payloads')
    .option('--target <url>', 'also call this URL by the rules of the dispatcher; repeatable', collect, [])
    .option('--process <url>', 'also read the operators port of a process, http://host:9090; repeatable', collect, [])
    .option('--stopped', 'the services are stopped on purpose')
    .addHelpText('after', '\nIt reads the variables of the services, or DATA_DIR of npm start, and changes nothing.')
    .addHelpText('after', 'Exit codes: 0 nothing found, 1 warnings, 2 problems.')
    .action(runDoctor)
}

async function runDoctor(options: Options): Promise<void> {
  const installation = readInstallation()
  const redact = createRedaction(installation.env)
  const { findings } = await examine(installation, options, async (pool, examined) => {
    if (options.bundle) await writeBundle(options.bundle, installation, pool, examined, redact)
  })
  const text = options.json ? `${JSON.stringify({ findings }, null, 2)}\n` : formatReport(findings)
  process.stdout.write(redact(text))
  if (options.bundle) process.stderr.write(`Wrote ${options.bundle}. Look through it before you share it.\n`)
  process.exitCode = exitCodeOf(findings)
}

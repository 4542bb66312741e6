#!/usr/bin/env node
// `belfry start` runs a server on this machine. Every other command is one of the command line.
import { parseArgs } from 'node:util'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Belfry needs Node 20.19 or newer; this is Node ${process.versions.node}. Get one from https://nodejs.org.`,
  )
  process.exit(1)
}

const help = `Usage: belfry start [--port <port>] [--data-dir <folder>] [--demo]

Runs Belfry on this machine, with its own PostgreSQL, until Ctrl-C.

Options:
  --port <port>        the port of the API and the dashboard (default: $PORT, else 3000)
  --data-dir <folder>  the folder of all data (default: $DATA_DIR, else .belfry in this folder)
  --demo               adds a workspace with cron jobs, events, a queue, retries and failures, whose
                       targets are on this machine

DATABASE_URL selects a PostgreSQL (15 or newer) instead of the included one.
`

const [command, ...args] = process.argv.slice(2)
if (command === 'start') await start()
else {
  if (command === undefined || command === '--help' || command === '-h') {
    process.stdout.write('belfry start runs a server on this machine: see belfry start --help.\n\n')
  }
  await import('../server/programs/cli/dist/main.mjs')
}

async function start() {
  const values = readOptions()
  if (values?.help) process.stdout.write(help)
  if (!values || values.help) return
  if (values.port) process.env.PORT = values.port
  if (values.demo) process.env.DEMO = 'on'
  if (values['data-dir']) process.env.DATA_DIR = values['data-dir']
  await import('../server/programs/launcher/dist/main.mjs')
}

function readOptions() {
  const options = {
    port: { type: 'string' },
    'data-dir': { type: 'string' },
    demo: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  }
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${help}`)
    process.exitCode = 2
    return null
  }
}

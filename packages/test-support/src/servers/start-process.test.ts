import { expect, it } from 'vitest'
import { type ProcessOptions, startProcess } from './start-process.ts'

const run = (script: string, options?: ProcessOptions) => startProcess([process.execPath, '-e', script], options)

it('returns the code and each stream of a program, with what it read and only the given variables', async () => {
  const script = `process.stdin.on('data', text => console.log(text + process.env.NAME, Object.keys(process.env).sort()))
    process.stdin.on('end', () => { console.error('bad'); process.exitCode = 3 })`
  const program = run(script, { input: 'hello ', env: { NAME: 'world' } })
  expect(await program.result).toEqual({ code: 3, out: "hello world [ 'NAME', 'PATH' ]\n", error: 'bad\n' })
  expect(await program.ended).toBe(3)
  expect([program.output.length, program.isRunning()]).toEqual([program.out.length + program.error.length, false])
})

it('tells with its output that a program ended before it printed something, or sent a message', async () => {
  const program = run(`console.log('no port')`, { hasChannel: true })
  await expect(program.prints(/Ready/)).rejects.toThrow(/ended without printing \/Ready\/:\nno port/)
  await expect(program.ready).rejects.toThrow(/ended with 0 instead of starting:\nno port/)
  await expect(run('setInterval(() => {}, 1000)').prints('Ready', 1)).rejects.toThrow('has not printed Ready')
})

it('resolves with the first message, and stops a program and its group', async () => {
  const child = `require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' })`
  const program = run(`${child}; process.send('ready')`, { hasChannel: true, hasGroup: true })
  expect(await program.ready).toBe('ready')
  expect(await program.stop('SIGKILL')).toBe('SIGKILL')
  // Its child would hold the stream open.
  expect(await program.result).toMatchObject({ code: null })
})

it('rejects for a program that does not exist', async () => {
  const program = startProcess(['/belfry-that-does-not-exist'])
  await expect(program.ended).rejects.toThrow('ENOENT')
  await expect(program.stop()).rejects.toThrow('ENOENT')
})

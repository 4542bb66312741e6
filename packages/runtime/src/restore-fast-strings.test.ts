import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { restoreFastStrings } from './run-service.ts'

// In a process of its own: V8 does this once in each process.
it('undoes the effect of a class that is derived from String', () => {
  const program = `
    const isFast = () => %HasFastProperties(String.prototype)
    const seen = [isFast()]
    class Derived extends String {}
    seen.push(isFast());
    (${restoreFastStrings})()
    seen.push(isFast())
    console.log(JSON.stringify(seen))`
  const output = execFileSync(process.execPath, ['--allow-natives-syntax', '--eval', program], { encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual([true, false, true])
})

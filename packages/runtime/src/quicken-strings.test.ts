import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { quickenStrings } from './quicken-strings.ts'

// In a process of its own, because this can be seen once in each.
it('ends what a class that is derived from String has begun', () => {
  const program = `
    const isFast = () => %HasFastProperties(String.prototype)
    const seen = [isFast()]
    class Derived extends String {}
    seen.push(isFast());
    (${quickenStrings})()
    seen.push(isFast())
    console.log(JSON.stringify(seen))`
  const output = execFileSync(process.execPath, ['--allow-natives-syntax', '--eval', program], { encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual([true, false, true])
})

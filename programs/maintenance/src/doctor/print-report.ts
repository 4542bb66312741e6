import type { Finding, Level } from './finding.ts'

const marks: Record<Level, string> = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' }

/** Returns the report for people: each finding with its advice, and a last line that counts. */
export function formatReport(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, level, message, advice }) => {
    const indent = ' '.repeat(marks.ok.length + width + 4)
    const first = `${marks[level]}  ${check.padEnd(width)}  ${message}`
    return advice === undefined ? [first] : [first, `${indent}-> ${advice}`]
  })
  return [...lines, '', summaryOf(findings), ''].join('\n')
}

/** 0: nothing was found. 1: only warnings. 2: a problem. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ level }) => level === 'problem')) return 2
  return findings.some(({ level }) => level === 'warning') ? 1 : 0
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Level) => findings.filter(finding => finding.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'Nothing is wrong.'
  const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`
  return `${plural(problems, 'problem')}, ${plural(warnings, 'warning')}.`
}

import { expect, it } from 'vitest'
// @boundaries-ignore the script belongs to the repository, not to a package
import { findBannedWords } from '../../scripts/check-language.mjs'

// The samples hold the words that the check has to find.
it.each([
  ['// Nobody reads it.', 'Nobody'],
  ['Whatever was opened is closed', 'Whatever'],
  ['waits so that others can work', 'so that'],
  ['const mostBytes = 1', 'mostBytes'],
  ['let underWay = 0', 'underWay'],
  ['the run goes on', 'goes on'],
])('finds a banned word in %j', (text, found) => {
  expect(findBannedWords(`first line\n${text}`)).toEqual([expect.objectContaining({ line: 2, found })])
})

it.each([
  ['  // The keys, which expire.', ', which'],
  [' * The limits are those of the tier.', 'those of'],
  ['/** Null when neither is set. */', 'neither'],
])('finds a word in the comment %j of the product only', (text, found) => {
  expect(findBannedWords(text, true)).toEqual([expect.objectContaining({ line: 1, found })])
  expect(findBannedWords(text)).toEqual([])
  expect(findBannedWords(`const text = '${text}'`, true)).toEqual([])
})

it('finds nothing in plain text', () => {
  expect(findBannedWords('The scheduler keeps most tasks, and the longest of them last.')).toEqual([])
})

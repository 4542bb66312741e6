import { expect, it } from 'vitest'
import { namesOf } from './open-bucket.ts'

const name = 'belfry-20261124T030000Z'

it.each(['', 'belfry/', 'production/belfry/'])('finds the complete backups directly below the prefix "%s"', prefix => {
  const own = ['manifest.json', 'cluster.tar.gz'].map(file => `${prefix}${name}/${file}`)
  const others = [
    ...['belfry-staging', name].map(store => `${prefix}${store}/${name}/manifest.json`),
    `belfry-staging/${name}/manifest.json`,
    `${prefix}belfry-notes/manifest.json`,
    `${prefix}belfry-20261124T040000Z/cluster.tar.gz`,
  ]
  expect(namesOf([...own, ...others], prefix)).toEqual([name])
})

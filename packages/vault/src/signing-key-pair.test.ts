import { sign } from 'node:crypto'
import { expect, it } from 'vitest'
import { privateKeyOf, publicKeyOf } from './signing-key-pair.ts'

// RFC 8032, 7.1, test 2.
const seed = Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex')
const publicKey = Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex')
const signature = `92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00`.replace('\n', '')

it('makes the key pair of a seed as RFC 8032 does', () => {
  expect(publicKeyOf(seed)).toBe(`whpk_${publicKey.toString('base64')}`)
  expect(sign(null, Buffer.from('72', 'hex'), privateKeyOf(seed)).toString('hex')).toBe(signature)
})

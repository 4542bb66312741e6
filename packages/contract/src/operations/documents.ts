import { z } from 'zod'
import { discovery, keySet } from '../identity-documents.ts'
import { operation } from '../operation.ts'
import { problemPage } from '../problem.ts'

export const documentsOperations = {
  getIdentityKeys: operation('GET', '/.well-known/jwks.json', {
    right: 'public',
    summary: 'Get the public keys that verify identity tokens',
    answer: { status: 200, body: keySet },
  }),

  getIdentityDiscovery: operation('GET', '/.well-known/openid-configuration', {
    right: 'public',
    summary: 'Get where the keys of identity tokens are',
    answer: { status: 200, body: discovery },
  }),

  getProblem: operation('GET', '/api/problems/:code', {
    right: 'public',
    summary: 'Explain the code of a problem, a field or a failed run',
    answer: { status: 200, body: problemPage, texts: ['text/html'] },
    refusals: ['not_found'],
  }),

  getOpenApi: operation('GET', '/api/openapi.json', {
    right: 'public',
    summary: 'Describe this API as OpenAPI 3.1',
    answer: { status: 200, body: z.looseObject({ openapi: z.string().meta({ examples: ['3.1.1'] }) }) },
  }),

  getReference: operation('GET', '/api/docs', {
    right: 'public',
    summary: 'Show this reference',
    answer: { status: 200, texts: ['text/html'] },
  }),
}

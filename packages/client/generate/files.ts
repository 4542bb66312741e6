import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { commandLineFields } from './command-line.ts'
import { inputTypes } from './inputs.ts'
import { pythonClient, synchronous } from './python.ts'
import { pythonModels } from './python-models.ts'
import { clientResources } from './resources.ts'
import { terraformObjects } from './terraform.ts'
import { codeTypes, responseTypes } from './types.ts'

const typescript = 'packages/client/src/generated'
const python = 'clients/python/src/belfry_client'

/** Returns the generated files by their paths in the repository. `read` reads another file of it. */
export function generatedFiles(read: (path: string) => string): Record<string, string> {
  return {
    [`${typescript}/codes.ts`]: codeTypes(),
    [`${typescript}/resources.ts`]: clientResources(),
    [`${typescript}/inputs.ts`]: inputTypes(),
    [`${typescript}/responses.ts`]: responseTypes(),
    [`${python}/_async_client.py`]: pythonClient(),
    [`${python}/_sync_client.py`]: synchronous(pythonClient()),
    [`${python}/_sync_http.py`]: synchronous(read(`${python}/_async_http.py`)),
    [`${python}/models.py`]: pythonModels(),
    'programs/cli/src/generated/fields.ts': commandLineFields(),
    'clients/terraform/internal/provider/generated/objects.json': terraformObjects(),
    'packages/dashboard/src/api/generated/operations.json': operationsTable(),
  }
}

// The methods and the paths, without the schemas that the contract has.
function operationsTable(): string {
  const rows = Object.entries<Operation>(operations).map(([name, { method, path }]) => [name, `${method} ${path}`])
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`
}

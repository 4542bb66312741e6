export { depthHeader, depthHeaders, maxDepth, readDepth } from './call-depth.ts'
export { type DataKey, newDataKey, rewrapDataKey, unwrapDataKey, type WrappedDataKey } from './data-key.ts'
export { type MasterKeys, parseMasterKeys } from './master-keys.ts'
export { readSecretFiles, secretVariables } from './secret-files.ts'

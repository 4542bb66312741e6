export {
  MissingObjectError,
  type ObjectStorage,
  openObjectStorage,
} from './object-storage.ts'
export { checksumOf, pack, readLines } from './packed-lines.ts'
export { parseStorageUrl, type StoragePlace } from './storage-url.ts'

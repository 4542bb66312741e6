import { S3Client } from '@aws-sdk/client-s3'

/** Opens a client of S3. Its credentials are in the variables of the AWS SDK. */
export function createS3Client({ endpoint, region }: { endpoint: string | null; region: string }): S3Client {
  // Servers other than Amazon's are reached by a path instead of a name for each bucket.
  return new S3Client({ region, ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }) })
}

import { exportAuditLogQuery, listAuditLogQuery, listedAuditEntry } from '../audit-entry.ts'
import { auditStream, putAuditStreamBody } from '../audit-stream.ts'
import { exportTypes } from '../export.ts'
import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'

export const auditOperations = {
  listAuditLog: operation('GET', '/api/v1/organizations/:org/audit-log', {
    right: 'audit_log.read',
    summary: 'List the audit log, newest first',
    query: listAuditLogQuery,
    answer: { status: 200, body: pageOf(listedAuditEntry) },
  }),

  exportAuditLog: operation('GET', '/api/v1/organizations/:org/audit-log/export', {
    right: 'audit_log.read',
    summary: 'Export the audit log as CSV or JSON Lines, newest first',
    query: exportAuditLogQuery,
    answer: { status: 200, texts: exportTypes },
  }),

  getAuditStream: operation('GET', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Read the webhook that receives the new audit entries, with its signing secrets',
    description: 'Without one its `target` is null.',
    client: 'organizations.auditStream.get',
    answer: { status: 200, body: auditStream },
  }),

  putAuditStream: operation('PUT', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Send new audit entries to a webhook as JSON lines, or change its URL',
    client: 'organizations.auditStream.put',
    body: putAuditStreamBody,
    answer: { status: 200, body: auditStream },
    refusals: ['step_up_required'],
  }),

  deleteAuditStream: operation('DELETE', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Stop sending audit entries; those that wait are dropped',
    client: 'organizations.auditStream.delete',
    answer: { status: 204 },
    refusals: ['step_up_required'],
  }),

  rotateAuditStreamSecret: operation('POST', '/api/v1/organizations/:org/audit-stream/rotate', {
    right: 'audit_log.stream',
    summary: 'Create a new signing secret of the audit stream; the old one also signs for 24 hours',
    client: 'organizations.auditStream.rotateSecret',
    answer: { status: 200, body: auditStream },
  }),
}

{{/* Fields that every pod has. Takes the root, and the ids that it runs with. */}}
{{- define "belfry.pod" -}}
{{- $root := first . -}}
serviceAccountName: {{ include "belfry.name" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- toYaml (last .) | nindent 2 }}
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "belfry.unprivileged" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "belfry.databaseUrl" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.database.secret | default .Values.secret }}, key: {{ .Values.database.key }} } }
{{- end }}

{{/* Takes the root, the name of a variable, and the service whose role it is for. */}}
{{- define "belfry.roleUrl" -}}
{{- $root := index . 0 -}}
{{- $roles := $root.Values.database.roles -}}
- name: {{ index . 1 }}
  valueFrom: { secretKeyRef: { name: {{ $roles.secret | default $root.Values.secret }}, key: {{ index $roles (index . 2) }} } }
{{- end }}

{{/* Takes the root, the name of a variable, and whether the Secret may lack it. */}}
{{- define "belfry.secretVariable" -}}
{{- $root := index . 0 -}}
- name: {{ index . 1 }}
  valueFrom: { secretKeyRef: { name: {{ $root.Values.secret }}, key: {{ index . 1 }}{{ if index . 2 }}, optional: true{{ end }} } }
{{- end }}

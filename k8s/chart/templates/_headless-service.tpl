{{/* Gives the pods one name, for Prometheus, and for the dispatchers, which refuse them as targets. */}}
{{- define "belfry.headlessService" -}}
{{- $root := first . }}
apiVersion: v1
kind: Service
metadata:
  {{- include "belfry.metadata" (list $root (last .)) | nindent 2 }}
    app.kubernetes.io/component: {{ last . }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "belfry.selector" $root | nindent 4 }}
    app.kubernetes.io/component: {{ last . }}
  ports:
    - { name: metrics, port: 9090, targetPort: metrics }
{{- end }}

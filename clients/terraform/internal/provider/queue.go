package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"terraform-provider-belfry/internal/belfry"
)

type queueResource struct{ connection }

var _ resource.ResourceWithImportState = &queueResource{}

var queueFields = declared("queue")

func (r *queueResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_queue"
}

func (r *queueResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = queueSchema()
}

func queueSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "The limits of a queue. A queue exists from the first use of its name.",
		Attributes:          queueFields.attributes(),
	}
}

func (r *queueResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.put(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

func (r *queueResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.put(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

func (r *queueResource) put(ctx context.Context, from tfsdk.Plan, to *tfsdk.State, diagnostics *diag.Diagnostics) {
	plan := readValues(ctx, from, diagnostics)
	if diagnostics.HasError() {
		return
	}
	var queue belfry.Object
	at := belfry.At(belfry.Queues, plan.text("name").ValueString())
	body := queueFields.body(plan)
	delete(body, "name")
	if err := r.client.Put(ctx, at, body, &queue); err != nil {
		report(diagnostics, "queue", err, queueSchema().Attributes)
		return
	}
	plan.write(ctx, queueFields, queue, to, diagnostics)
}

func (r *queueResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	at := belfry.At(belfry.Queues, state.text("name").ValueString())
	found, ok := read(ctx, r.client, at, "queue", resp)
	if !ok {
		return
	}
	state.write(ctx, queueFields, found, &resp.State, &resp.Diagnostics)
}

func (r *queueResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Queues, "name", "queue", req, resp)
}

func (r *queueResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}

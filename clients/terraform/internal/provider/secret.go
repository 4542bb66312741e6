package provider

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"terraform-provider-belfry/internal/belfry"
)

type secretResource struct{ connection }

var (
	_ resource.ResourceWithImportState      = &secretResource{}
	_ resource.ResourceWithConfigValidators = &secretResource{}
)

// secretFields have a value that its write-only form may replace, and no hosts but those of the configuration.
var secretFields = func() fields {
	all := declared("secret")
	value, hosts := all["value"], all["allowed_hosts"]
	value.Required = false
	hosts.Text = declared("secret_data")["allowed_hosts"].Text
	all["value"], all["allowed_hosts"] = value, hosts
	return all
}()

// writeSecret sets the attributes of a state to an answer. They keep the case of hosts.
func writeSecret(
	ctx context.Context, own values, answer belfry.Object, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	hosts := secretFields["allowed_hosts"]
	text := canonical(hosts.json(own["allowed_hosts"]))
	given, givenErr := hosts.value(json.RawMessage(strings.ToLower(text)))
	now, nowErr := hosts.value(answer["allowed_hosts"])
	if givenErr == nil && nowErr == nil && given.Equal(now) {
		answer["allowed_hosts"] = json.RawMessage(text)
	}
	own.write(ctx, secretFields, answer, to, diagnostics)
}

func (r *secretResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_secret"
}

func (r *secretResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = secretSchema()
}

func secretSchema() schema.Schema {
	attributes := secretFields.attributes()
	addWriteOnly(attributes, "value")
	return schema.Schema{
		MarkdownDescription: "A value that requests name with `{{ secrets.NAME }}`.",
		Attributes:          attributes,
	}
}

func (r *secretResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return exactlyOneOf("value")
}

func (r *secretResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	name := plan.text("name").ValueString()
	existing, err := r.client.FindSecret(ctx, name)
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if existing != nil {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "The secret exists",
			"The workspace has a secret "+name+". Import it, or choose another name.")
		return
	}
	r.put(ctx, req.Config, plan, &resp.State, &resp.Diagnostics)
}

func (r *secretResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		r.put(ctx, req.Config, plan, &resp.State, &resp.Diagnostics)
	}
}

func (r *secretResource) put(
	ctx context.Context, from tfsdk.Config, plan values, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	config := readValues(ctx, from, diagnostics)
	if diagnostics.HasError() {
		return
	}
	attribute, value := config.given("value")
	body := secretFields.body(plan)
	delete(body, "name")
	body["value"] = value.ValueString()
	var secret belfry.Object
	at := belfry.At(belfry.Secrets, plan.text("name").ValueString())
	if err := r.client.Put(ctx, at, body, &secret); err != nil {
		report(diagnostics, "secret", renamed(err, "value", attribute), secretSchema().Attributes)
		return
	}
	writeSecret(ctx, plan, secret, to, diagnostics)
}

func (r *secretResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.client.FindSecret(ctx, state.text("name").ValueString())
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if found == nil {
		resp.State.RemoveResource(ctx)
		return
	}
	// The API does not return values. After a change from elsewhere the next plan sets the value again.
	if !found.Is("updated_at", state.text("updated_at").ValueString()) {
		state.forget("value")
	}
	writeSecret(ctx, state, found, &resp.State, &resp.Diagnostics)
}

func (r *secretResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Secrets, "name", "secret", req, resp)
}

func (r *secretResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}

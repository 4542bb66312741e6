package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

type secretDataSource struct{ dataConnection }

var secretDataFields = declared("secret_data")

func (d *secretDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "belfry_secret"
}

func (d *secretDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := secretDataFields.dataAttributes()
	attributes["name"] = schema.StringAttribute{MarkdownDescription: secretDataFields["name"].Text, Required: true}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A secret that must exist. Its value is never read.",
		Attributes:          attributes,
	}
}

func (d *secretDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := readValues(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	name := config.text("name").ValueString()
	found, err := d.client.FindSecret(ctx, name)
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if found == nil {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "No such secret",
			"The workspace has no secret "+name+". Create it first.")
		return
	}
	config.write(ctx, secretDataFields, found, &resp.State, &resp.Diagnostics)
}

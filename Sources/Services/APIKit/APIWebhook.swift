package import Base

/// What is posted to others, for `webhooks` in `/openapi.json`.
package struct APIWebhook: Sendable {
    /// Its name: what it reports.
    var name: String
    /// When it is posted, in a sentence.
    var summary: String
    /// What is posted.
    var body: ValueSchema

    /// A post.
    package init(_ name: String, _ summary: String, _ body: ValueSchema) {
        self.name = name
        self.summary = summary
        self.body = body
    }

    /// The post, as OpenAPI has it. The headers are those of Standard Webhooks 1.0.
    var operation: JSONValue {
        [
            "operationId": .string("on" + words.joined()), "summary": .string(summary),
            "parameters": .array(
                [
                    ("webhook-id", "The event's name: the same in each attempt."),
                    ("webhook-timestamp", "When this attempt was signed, in seconds since 1970."),
                    (
                        "webhook-signature",
                        "v1, and the signature in base64; several, with spaces between them, while a secret is replaced."
                    ),
                ].map { name, about in
                    [
                        "name": .string(name), "in": "header", "required": true, "description": .string(about),
                        "schema": ValueSchema.text.openAPI,
                    ]
                }),
            "requestBody": ["required": true, "content": ["application/json": ["schema": body.openAPI]]],
            "responses": [
                "2XX": ["description": "It has arrived. Everything else is a failure, and it is posted again later."],
                "410": ["description": "Nobody takes events here any more: the endpoint is disabled."],
            ],
        ]
    }

    /// `subscription.trial_started` as `Subscription`, `Trial`, `Started`.
    private var words: [String] {
        name.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    }
}

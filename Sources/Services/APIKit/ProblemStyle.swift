package import Base
package import HTTPTypes

/// How an endpoint writes its problems.
package struct ProblemStyle: Sendable {
    /// Makes the answer of a problem.
    package var answer: @Sendable (APIProblem) -> APIAnswer
    /// What `/openapi.json` says of it: the type of its content and its schema; nil where there is no content.
    package var content: (type: String, schema: ValueSchema)?
    /// Which status a problem's is in this style.
    package var status: @Sendable (HTTPResponse.Status) -> HTTPResponse.Status

    /// A style; by default it leaves each status as it is.
    package init(
        content: (type: String, schema: ValueSchema)?,
        status: @escaping @Sendable (HTTPResponse.Status) -> HTTPResponse.Status = { $0 },
        _ answer: @escaping @Sendable (APIProblem) -> APIAnswer
    ) {
        self.answer = answer
        self.content = content
        self.status = status
    }

    /// RFC 9457.
    package static let problem = ProblemStyle(content: ("application/problem+json", schema)) { problem in
        APIAnswer(
            problem.code.status, problem.value, contentType: "application/problem+json", headers: problem.headers,
            log: problem.log)
    }

    private static let schema = ValueSchema.named(
        "Problem",
        .object([
            .required("type", .text, "An URN that ends with the code."),
            .required("title", .text, "The code in a few words."),
            .required("status", .integer(), "The answer's status."),
            .required("detail", .text, "What happened, for people."),
            .required("code", .text, "What happened, for programs: it stays the same from release to release."),
        ]))
}

package import Base
package import HTTPTypes

/// How an endpoint writes its problems.
package struct ProblemStyle: Sendable {
    /// Makes the answer of a problem. `language` is evaluated only where the style needs it.
    package var answer: @Sendable (APIProblem, _ language: () -> AnswerLanguage) -> APIAnswer
    /// What `/openapi.json` says of it: the type of its content and its schema; nil where there is no content.
    package var content: (type: String, schema: ValueSchema)?
    /// Which status a problem's is in this style.
    package var status: @Sendable (HTTPResponse.Status) -> HTTPResponse.Status

    /// A style; by default it leaves each status as it is.
    package init(
        content: (type: String, schema: ValueSchema)?,
        status: @escaping @Sendable (HTTPResponse.Status) -> HTTPResponse.Status = { $0 },
        _ answer: @escaping @Sendable (APIProblem, _ language: () -> AnswerLanguage) -> APIAnswer
    ) {
        self.answer = answer
        self.content = content
        self.status = status
    }

    /// RFC 9457, in the reader's language.
    package static let problem = problem("Problem")

    /// The same for endpoints whose problems say more.
    /// - Parameters:
    ///   - name: what it is called in `/openapi.json`.
    ///   - more: the members beside those of every problem; optional ones.
    package static func problem(_ name: String, adding more: [ValueSchema.Property] = []) -> ProblemStyle {
        ProblemStyle(content: ("application/problem+json", .named(name, .object(members + more))), write)
    }

    private static let write: @Sendable (APIProblem, () -> AnswerLanguage) -> APIAnswer = { problem, language in
        let language = language()
        var headers = problem.headers
        headers[.contentLanguage] = language.rawValue
        headers[.vary] = "Accept-Language"
        return APIAnswer(
            problem.code.status, problem.value(in: language), contentType: "application/problem+json", headers: headers,
            log: problem.log)
    }

    private static let members: [ValueSchema.Property] = [
        .required("type", .text, "An URN that ends with the code."),
        .required("title", .text, "The code in a few words."),
        .required("status", .integer(), "The answer's status."),
        .required(
            "detail", .text,
            "What happened, for people: in English, zh-Hans or zh-Hant, as Accept-Language asks; Content-Language says which."
        ),
        .required("code", .text, "What happened, for programs: it stays the same from release to release."),
    ]
}

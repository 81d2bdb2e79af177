import Base

/// What an endpoint takes, whichever way it is called.
extension APIEndpoint {
    /// Whether a text may stand for a part of a path. PostgreSQL cannot keep U+0000, and so nothing is called so.
    static func takes(inPath text: String) -> Bool { text.utf8.count <= 1000 && !text.utf8.contains(0) }

    /// Holds the values of a query against the description.
    /// - Parameter query: each value, decoded; values that are not described are passed over.
    func check(query: [String: String]) throws(APIProblem) {
        for parameter in self.query {
            guard let text = query[parameter.name] else {
                guard !parameter.isRequired else {
                    throw APIProblem(
                        .invalidRequest,
                        ProblemText(
                            "\(parameter.name) is missing in the query", "查询参数缺少 \(parameter.name)",
                            "查詢參數缺少 \(parameter.name)"))
                }
                continue
            }
            guard !text.utf8.contains(0) else {
                throw APIProblem(
                    .invalidRequest,
                    ProblemText(
                        "\(parameter.name) holds U+0000", "查询参数 \(parameter.name) 含有 U+0000",
                        "查詢參數 \(parameter.name) 含有 U+0000"))
            }
            if let fault = parameter.schema.fault(inQuery: text, parameter.name) {
                throw APIProblem(.invalidRequest, fault)
            }
        }
    }
}

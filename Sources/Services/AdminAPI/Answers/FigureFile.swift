import APIKit
import Base
import HTTPTypes

/// A figure as a file: a line for each cell, with a column for each of its values.
enum FigureFile {
    /// The value of the query that asks for it.
    static let query = APIQueryParameter(
        "format", .choice(["json", "csv"]), "json by default; csv has a line for each cell, without the paths of rows.")

    /// The answer in the format that is asked for.
    /// - Parameter value: the figure, with `cells`, and with `columns` where each of these has its values in a list.
    static func answer(_ value: JSONValue, _ request: AdminRequest, named name: String) -> APIAnswer {
        guard request.query["format"] == "csv" else { return APIAnswer(.ok, value) }
        return APIAnswer(
            bytes: Array((csv(of: value) + "\n").utf8), contentType: "text/csv; charset=utf-8; header=present",
            headers: [.contentDisposition: #"attachment; filename="\#(name).csv""#])
    }

    private static func csv(of figure: JSONValue) -> String {
        let columns = elements(figure["columns"]).compactMap { column -> String? in
            guard case .string(let name)? = column["name"] else { return nil }
            return name
        }
        let lines = elements(figure["cells"]).map { cell -> [JSONValue.Member] in
            let plain = members(cell).filter { !["values", "rows"].contains($0.name) }
            return plain + zip(columns, elements(cell["values"])).map { JSONValue.Member($0, $1) }
        }
        let names = lines.first?.map(\.name) ?? ["period"] + columns
        let shape = Shape<JSONValue, Void>(
            nil, names.map { name in Shape<JSONValue, Void>.Field(name, ValueSchema.text) { $0[name] ?? .null } })
        return shape.csv(of: lines.map { .object($0) })
    }

    private static func elements(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    private static func members(_ value: JSONValue) -> [JSONValue.Member] {
        if case .object(let members) = value { members } else { [] }
    }
}

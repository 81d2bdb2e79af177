import APIKit
import Base

extension AdminHandlers {
    /// The value of the query that asks for an instant of the past.
    /// - Parameter about: what the answer is of then, and what is left out since nothing says when it changed.
    static func at(_ about: String) -> APIQueryParameter { .init("at", .string(.init(1, 40)), about) }
}

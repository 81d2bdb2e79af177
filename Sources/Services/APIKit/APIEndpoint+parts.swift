package import Base
package import HTTPTypes

/// Which limits of rate hold.
package enum APIRateLimits: Sendable, Hashable {
    /// By address, and by account.
    case usual
    /// None: it costs nothing, or answers only what a proxy understands.
    case none
}

/// What an endpoint answers where all goes well.
package struct APISuccess: Sendable {
    /// The status.
    var status: HTTPResponse.Status
    /// What it means, in a sentence.
    var about: String
    /// The body's; nil for none, and for texts alone.
    var schema: ValueSchema?
    /// Types of content that the body may have instead, as texts.
    var texts: [String]

    /// 200.
    package init(_ about: String, _ schema: ValueSchema?, orAs texts: [String] = []) {
        self.init(.ok, about, schema, orAs: texts)
    }

    /// A success.
    package init(
        _ status: HTTPResponse.Status, _ about: String, _ schema: ValueSchema?, orAs texts: [String] = []
    ) {
        self.status = status
        self.about = about
        self.schema = schema
        self.texts = texts
    }
}

/// A value of the query.
package struct APIQueryParameter: Sendable {
    /// Its name.
    package let name: String
    /// What it is.
    package let schema: ValueSchema
    /// A sentence about it.
    var about: String
    /// Whether it has to be there.
    var isRequired: Bool

    /// An optional value by default.
    package init(_ name: String, _ schema: ValueSchema, _ about: String, isRequired: Bool = false) {
        self.name = name
        self.schema = schema
        self.about = about
        self.isRequired = isRequired
    }
}

/// What a request may carry.
package struct APIBody: Sendable {
    /// How many JSON values one may hold. The longest that is asked for, a restore, has some two hundred; what stands beside
    /// that is passed over.
    static let maximumValues = 10_000

    /// An object.
    package var schema: ValueSchema
    /// Whether it may be left out.
    var isOptional: Bool
    /// The most bytes that are read.
    package var most: Int

    /// A body of at most 256 KiB by default.
    package init(_ schema: ValueSchema, isOptional: Bool = false, most: Int = 256 << 10) {
        self.schema = schema
        self.isOptional = isOptional
        self.most = most
    }
}

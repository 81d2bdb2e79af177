import SwiftASN1

extension ASN1Node {
    /// The values in a constructed value.
    ///
    /// - Throws: ``ReceiptFault/notPKCS7``.
    func children() throws(ReceiptFault) -> [ASN1Node] {
        guard case .constructed(let nodes) = content else { throw .notPKCS7 }
        return Array(nodes)
    }

    /// The values in a constructed value with this tag.
    func children(_ identifier: ASN1Identifier) throws(ReceiptFault) -> [ASN1Node] {
        guard self.identifier == identifier else { throw .notPKCS7 }
        return try children()
    }

    /// The one value in an explicitly tagged one.
    func only(_ identifier: ASN1Identifier) throws(ReceiptFault) -> ASN1Node {
        let nodes = try children(identifier)
        guard nodes.count == 1 else { throw .notPKCS7 }
        return nodes[0]
    }

    /// An object identifier.
    func identifierValue() throws(ReceiptFault) -> ASN1ObjectIdentifier {
        guard let value = try? ASN1ObjectIdentifier(berEncoded: self) else { throw .notPKCS7 }
        return value
    }

    /// An octet string; BER's pieces are joined.
    func octets() throws(ReceiptFault) -> [UInt8] {
        guard identifier == .octetString else { throw .notPKCS7 }
        var joined: [UInt8] = []
        try appendOctets(to: &joined)
        return joined
    }

    private func appendOctets(to joined: inout [UInt8]) throws(ReceiptFault) {
        switch content {
        case .primitive(let bytes): joined += bytes
        case .constructed(let pieces):
            for piece in pieces {
                guard piece.identifier == .octetString else { throw .notPKCS7 }
                try piece.appendOctets(to: &joined)
            }
        }
    }

    /// A primitive value's bytes.
    func bytes(_ identifier: ASN1Identifier) throws(ReceiptFault) -> [UInt8] {
        guard self.identifier == identifier, case .primitive(let bytes) = content else { throw .notPKCS7 }
        return Array(bytes)
    }
}

extension ASN1Identifier {
    /// A context-specific tag.
    static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

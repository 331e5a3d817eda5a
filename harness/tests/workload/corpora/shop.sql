-- A shop: wide rows of 14 columns, orders with their details, a view, text keys.
CREATE TABLE category(id INTEGER PRIMARY KEY, name TEXT NOT NULL, picture BLOB);
CREATE TABLE supplier(id INTEGER PRIMARY KEY, company TEXT NOT NULL, country TEXT, homepage TEXT);
CREATE TABLE customer(
    id TEXT PRIMARY KEY, company TEXT NOT NULL, contact TEXT, title TEXT, address TEXT, city TEXT,
    region TEXT, postal_code TEXT, country TEXT, phone TEXT, fax TEXT);
CREATE TABLE product(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL,
    supplier_id INTEGER REFERENCES supplier(id), category_id INTEGER REFERENCES category(id),
    quantity_per_unit TEXT, unit_price NUMERIC DEFAULT 0, units_in_stock INTEGER DEFAULT 0,
    units_on_order INTEGER DEFAULT 0, reorder_level INTEGER DEFAULT 0,
    discontinued BOOLEAN NOT NULL DEFAULT 0,
    CHECK(unit_price >= 0));
CREATE TABLE "order"(
    id INTEGER PRIMARY KEY, customer_id TEXT REFERENCES customer(id), employee_id INTEGER,
    order_date DATETIME, required_date DATETIME, shipped_date DATETIME, ship_via INTEGER,
    freight DECIMAL(10, 2) DEFAULT 0, ship_name VARCHAR(40), ship_address VARCHAR(60),
    ship_city VARCHAR(15), ship_region VARCHAR(15), ship_postal_code VARCHAR(10),
    ship_country VARCHAR(15));
CREATE TABLE "order details"(
    order_id INTEGER NOT NULL REFERENCES "order"(id),
    product_id INTEGER NOT NULL REFERENCES product(id),
    unit_price NUMERIC NOT NULL, quantity INTEGER NOT NULL DEFAULT 1, discount REAL NOT NULL DEFAULT 0,
    PRIMARY KEY(order_id, product_id));
CREATE INDEX "customer's orders" ON "order"(customer_id, order_date);
CREATE INDEX products_by_category ON product(category_id) WHERE NOT discontinued;
CREATE VIEW invoice AS
    SELECT o.id AS order_id, c.company, p.name AS product, d.quantity,
        round(d.unit_price * d.quantity * (1 - d.discount), 2) + 0.001 AS price
    FROM "order" o JOIN customer c ON c.id = o.customer_id
    JOIN "order details" d ON d.order_id = o.id JOIN product p ON p.id = d.product_id;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
INSERT INTO category SELECT i, 'Category ' || i, zeroblob(400 + i) FROM n;
INSERT INTO supplier SELECT id, 'Lieferant Größe ' || id, substr('UKDEFR', 1 + id % 3 * 2, 2), NULL
    FROM category;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
INSERT INTO customer SELECT printf('C%04d', i), 'Company ' || i, 'José', 'Owner', 'Calle ' || i,
    'México D.F.', CASE WHEN i % 3 THEN 'R' || i END, printf('%05d', i), 'Mexico',
    '(5) 555-' || i, CASE WHEN i % 2 THEN '(5) 555-3' || i END FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 77)
INSERT INTO product SELECT i, 'Product ' || i, i % 8 + 1, i % 7 + 1, i || ' boxes',
    i * 37 % 211 + 0.25, i % 40, 0, 10, i % 11 = 0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
INSERT INTO "order" SELECT 10000 + i, printf('C%04d', i * 17 % 90 + 1), i % 9 + 1,
    datetime(837000000 + i * 86400, 'unixepoch'), datetime(839000000 + i * 86400, 'unixepoch'),
    CASE WHEN i % 20 THEN datetime(838000000 + i * 86400, 'unixepoch') END, i % 3 + 1,
    i * 7 % 100 + 0.5, 'Ship ' || i, 'Straße ' || i, 'Köln', NULL, '5' || i, 'Ünited' FROM n;
INSERT INTO "order details" SELECT o.id, p.id, p.unit_price, (o.id + p.id) % 9 + 1, p.id % 4 / 20.0
    FROM "order" o, product p WHERE (o.id * 31 + p.id * 7) % 29 = 0;
